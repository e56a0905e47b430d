# The kernel's signature says numbers where its text takes pointers.
# verdict: runtime_error
# expect: its plan does not hold
# expect: the entry of silu_kernel takes other arguments than its signature says
# shared: forging
# shared: plan
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["signature"] = ["i64"] * len(kernel["signature"])
    for launch in launches(plan):
        launch["arguments"] = [{"kind": "integer", "type": "i64", "value": 1 << 46}] * len(launch["arguments"])
# shared: forged
