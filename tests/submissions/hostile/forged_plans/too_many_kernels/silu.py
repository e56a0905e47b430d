# A thousand kernels of different names, to be compiled one by one.
# verdict: runtime_error
# expect: its plan does not hold
# expect: List should have at most 64 items after validation
# shared: forging
def forge(plan):
    plan["kernels"] += [{**plan["kernels"][0], "name": f"kernel_{number}"} for number in range(1000)]
# shared: forged
