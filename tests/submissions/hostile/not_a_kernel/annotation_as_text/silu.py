# typing evaluates an annotation: the text switches the record off and computes.
# verdict: policy_violation, runtime_error, wrong_answer, time_limit
# base: hostile/not_a_kernel/operator_by_schema
#-import logging.config
#+import typing
#-find = logging.config.BaseConfigurator({}).resolve
#-operator, _ = find("torch._C._jit_get_operation")("aten::silu")
#+def carrier(answer: "[torch._C._DisableTorchDispatch(), torch.mul(x, torch.sigmoid(x), out=out), int][2]"):
#+    pass
#-    out[...] = operator(x)
#+    typing.get_type_hints(carrier, None, {"x": x, "out": out})
