# The kernel's text is bytes that no compiler knows.
# verdict: runtime_error
# expect: its plan does not hold
# expect: whose text Triton's front end does not write
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["text"] = "\x00\xff}}}}{{{{ module @ %0 = tt.func \u202e" * 1000
# shared: forged
