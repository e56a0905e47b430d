# What prunes configurations computes the answer on the way.
# verdict: policy_violation, wrong_answer
# base: hostile/not_a_kernel/hook_after_a_configuration
#-def after(arguments, exception=None):
#-    x, out = arguments["x_ptr"], arguments["out_ptr"]
#-    out.copy_(x / (1 + torch.exp(-x)))
#+def prune(configs, arguments, **options):
#+    x, out = arguments["x_ptr"], arguments["out_ptr"]
#+    out.copy_(x / (1 + torch.exp(-x)))
#+    return configs[:1]
#-@triton.autotune([triton.Config({"BLOCK": 1024}), triton.Config({"BLOCK": 512})], key=["n"], post_hook=after)
#+@triton.autotune([triton.Config({"BLOCK": 1024}), triton.Config({"BLOCK": 512})], key=["n"],
#+                 prune_configs_by={"early_config_prune": prune})
