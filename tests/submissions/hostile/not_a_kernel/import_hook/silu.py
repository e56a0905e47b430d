# A finder in front of all others hands out modules of its own.
# verdict: policy_violation
# base: hostile/not_a_kernel/operator_by_schema
#-import logging.config
#+import sys
#-find = logging.config.BaseConfigurator({}).resolve
#-operator, _ = find("torch._C._jit_get_operation")("aten::silu")
#+class Finder:
#+    def find_spec(self, name, path=None, target=None):
#+        return None
#+
#+
#+sys.meta_path.insert(0, Finder())
#-    out[...] = operator(x)
#+    out[...] = x * (1 / (1 + 2.718281828459045 ** -x))
