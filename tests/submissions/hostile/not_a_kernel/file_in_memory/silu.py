# A tensor over a file of shared memory, which another library maps as well.
# verdict: policy_violation, wrong_answer, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    values = torch.from_file("/proc/self/fd/3", shared=True, size=x.numel())
#+    out.copy_(values.view(x.shape))
