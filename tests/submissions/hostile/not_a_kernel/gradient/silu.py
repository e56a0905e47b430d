# Autograd computes: the derivative of softplus(x) * x minus what there is too much.
# verdict: policy_violation
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    with torch.enable_grad():
#+        leaf = x.detach().requires_grad_()
#+        torch.nn.functional.softplus(leaf).sum().backward()
#+    out.copy_(x * leaf.grad)
