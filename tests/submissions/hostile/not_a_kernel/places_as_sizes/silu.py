# tensor_split on the tensor itself, with no arithmetic before it.
# verdict: policy_violation, runtime_error
# base: hostile/not_a_kernel/apply_of_a_tensor
#-    out.apply_(lambda v: v / (1 + 2.718281828459045 ** -v))
#+    pieces = torch.tensor_split(torch.empty(1 << 20), x.view(torch.int32).view(-1))
#+    for i, piece in enumerate(pieces[: x.numel()]):
#+        out.view(-1)[i].fill_(piece.shape[0])
