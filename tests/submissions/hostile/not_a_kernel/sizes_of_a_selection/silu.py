# A mask as an index: what it selects has as many elements as the mask is true.
# verdict: policy_violation
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    positive = x.view(-1)[x.view(-1).view(torch.bool)[: x.numel()]]
#+    out.fill_(positive.shape[0])
