# The tensors change hands by DLPack, which every library of arrays reads.
# verdict: policy_violation
# base: hostile/not_a_kernel/ufunc_of_numpy
#-    np.divide(x, np.exp(np.negative(x)) + 1, out=out)
#+    values = np.from_dlpack(x)
#+    np.from_dlpack(out)[:] = values / (1 + np.exp(-values))
