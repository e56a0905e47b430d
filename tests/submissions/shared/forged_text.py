

def forge(plan):
    for kernel in plan["kernels"]:
        kernel["text"] = TEXT
        kernel["symbol"] = "silu_kernel"
        kernel["signature"] = ["*fp32", "*fp32", "i32"]
