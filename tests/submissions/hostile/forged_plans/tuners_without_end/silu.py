# An autotuner of 65,536 configurations, each of which would be compiled and timed.
# verdict: wrong_answer, runtime_error, time_limit
# shared: forging
def forge(plan):
    plan["tuners"] = [{"kernel": "silu_kernel", "candidates": 65_536, "chosen": 65_535}] * 64
    plan["first"] = []
    plan["steady"] = None
# shared: forged
