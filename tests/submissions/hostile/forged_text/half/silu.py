# The kernel's text ends in the middle.
# verdict: runtime_error
# expect: its plan does not hold
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["text"] = kernel["text"][: len(kernel["text"]) // 2]
# shared: forged
