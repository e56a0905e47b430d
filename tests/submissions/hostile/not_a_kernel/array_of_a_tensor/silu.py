# NumPy takes x and out over by the protocol that it has for such things.
# verdict: policy_violation
# base: hostile/not_a_kernel/ufunc_of_numpy
#-    np.divide(x, np.exp(np.negative(x)) + 1, out=out)
#+    values = np.asarray(x)
#+    np.copyto(np.asarray(out), values / (1 + np.exp(-values)))
