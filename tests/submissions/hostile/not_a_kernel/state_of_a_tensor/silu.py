# Sets what a tensor is by the method that unpickles it.
# verdict: policy_violation, wrong_answer, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    out.__setstate__((x.untyped_storage(), 0, tuple(x.shape), x.stride()))
