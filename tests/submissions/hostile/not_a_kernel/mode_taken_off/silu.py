# Takes the recorder's mode off the stack of PyTorch, computes, and puts it back.
# verdict: policy_violation, runtime_error, wrong_answer, time_limit
# base: hostile/not_a_kernel/operator_by_schema
#-operator, _ = find("torch._C._jit_get_operation")("aten::silu")
#+take_off = find("torch._C._pop_torch_dispatch_stack")
#+put_back = find("torch._C._push_on_torch_dispatch_stack")
#-    out[...] = operator(x)
#+    mode = take_off(None)
#+    out[...] = x * (1 / (1 + 2.718281828459045 ** -x))
#+    put_back(mode)
