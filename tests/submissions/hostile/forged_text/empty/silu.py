# The kernel has no text.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a kernel without an entry
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["text"] = ""
# shared: forged
