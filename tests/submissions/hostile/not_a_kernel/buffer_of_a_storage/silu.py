# The storage's bytes as a buffer, from which NumPy reads and to which it writes.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/ufunc_of_numpy
#-    np.divide(x, np.exp(np.negative(x)) + 1, out=out)
#+    values = np.frombuffer(x.untyped_storage(), np.float32)
#+    np.frombuffer(out.untyped_storage(), np.float32)[:] = values / (1 + np.exp(-values))
