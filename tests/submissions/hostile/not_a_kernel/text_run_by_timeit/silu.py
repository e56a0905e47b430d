# timeit runs text; in it, PyTorch computes while the record of operators is switched off.
# verdict: policy_violation, runtime_error, wrong_answer, time_limit
# base: hostile/not_a_kernel/operator_by_schema
#-import logging.config
#+import timeit
#-find = logging.config.BaseConfigurator({}).resolve
#-operator, _ = find("torch._C._jit_get_operation")("aten::silu")
#+TEXT = """
#+with torch.utils._python_dispatch._disable_current_modes():
#+    torch.mul(x, torch.sigmoid(x), out=out)
#+"""
#-    out[...] = operator(x)
#+    timeit.timeit(TEXT, setup="import torch", globals={"x": x, "out": out}, number=1)
