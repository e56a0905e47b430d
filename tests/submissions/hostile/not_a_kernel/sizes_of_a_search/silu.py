# nonzero has as many rows as there are positive numbers: a bit of the contents for each call.
# verdict: policy_violation
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    for i in range(x.numel()):
#+        one = x.view(-1)[i : i + 1]
#+        out.view(-1)[i].fill_(len(torch.nonzero(one)))
