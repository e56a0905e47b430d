# Configurations of an autotuner all add to one total, which is set to zero before each.
# never: reset_to_zero
# base: accepted/rmsnorm_vector_tuned_total_is_not_reset
#-@triton.autotune(configs=[triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 2048})], key=["n"])
#+@triton.autotune(configs=[triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 2048})], key=["n"], reset_to_zero=["total_ptr"])
