# A trace function, found by a resolver of logging, gets the frames of the worker.
# verdict: policy_violation
# base: hostile/not_a_kernel/operator_by_schema
#-find = logging.config.BaseConfigurator({}).resolve
#-operator, _ = find("torch._C._jit_get_operation")("aten::silu")
#+settrace = logging.config.BaseConfigurator({}).resolve("sys.settrace")
#+seen = []
#-    out[...] = operator(x)
#+    try:
#+        settrace(lambda frame, event, value: seen.append(frame))
#+    except PermissionError:
#+        pass
#+    out[...] = x * (1 / (1 + 2.718281828459045 ** -x))
