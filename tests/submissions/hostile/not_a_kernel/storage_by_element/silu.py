# A storage answers by index, one number at a time.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    source, target = x.storage(), out.storage()
#+    for i in range(x.numel()):
#+        target[i] = source[i] / (1 + 2.718281828459045 ** -source[i])
