# A kernel's text of 8 MB.
# verdict: runtime_error
# expect: asks for more than a plan can hold
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["text"] += "// nothing\n" * 800_000
# shared: forged
