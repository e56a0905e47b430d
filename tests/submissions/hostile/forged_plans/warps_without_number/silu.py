# Three warps, minus one stage, 2^40 registers.
# verdict: runtime_error
# expect: its plan does not hold
# expect: kernels.0.options
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["options"].update(num_warps=3, num_stages=-1, maxnreg=1 << 40)
# shared: forged
