# A pattern asks a tensor for attributes and compares what it gets, with no call in sight.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    match x[0, 0]:
#+        case 0.0:
#+            out.fill_(0.0)
#+        case torch.Tensor(mT=turned, real=values):
#+            out.copy_(values / (1 + torch.exp(-values)))
