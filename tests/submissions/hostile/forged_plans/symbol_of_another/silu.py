# The entry's name is a path, which might be opened.
# verdict: runtime_error
# expect: its plan does not hold
# expect: the kernel's entry is silu_kernel, not ../../../etc/passwd
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["symbol"] = "../../../etc/passwd"
# shared: forged
