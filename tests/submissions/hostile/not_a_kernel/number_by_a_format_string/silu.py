# A format string with a precision asks a tensor of one element for its number.
# verdict: runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    for i in range(x.numel()):
#+        value = float(f"{x.view(-1)[i]:.6f}")
#+        out.view(-1)[i].fill_(value / (1 + 2.718281828459045 ** -value))
