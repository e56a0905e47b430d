# The hook before a configuration computes: it is called by Triton, with the tensors.
# verdict: policy_violation
# base: hostile/not_a_kernel/hook_after_a_configuration
#-def after(arguments, exception=None):
#+def before(arguments):
#-@triton.autotune([triton.Config({"BLOCK": 1024}), triton.Config({"BLOCK": 512})], key=["n"], post_hook=after)
#+@triton.autotune([triton.Config({"BLOCK": 1024}, pre_hook=before)], key=["n"])
