# Calls the C functions of PyTorch's library through ctypes, which a resolver of logging imports.
# verdict: policy_violation
# base: hostile/not_a_kernel/operator_by_schema
#-find = logging.config.BaseConfigurator({}).resolve
#-operator, _ = find("torch._C._jit_get_operation")("aten::silu")
#+load = logging.config.BaseConfigurator({}).resolve("ctypes.CDLL")
#-    out[...] = operator(x)
#+    libm = load("libm.so.6")
#+    out[...] = x * (1 / (1 + 2.718281828459045 ** -x)) + 0 * libm.abs(0)
