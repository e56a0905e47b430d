# Options that Triton has and plans do not: libraries to link, text to put in place of its own.
# verdict: runtime_error
# expect: its plan does not hold
# expect: kernels.0.options.extern_libs
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["options"].update(extern_libs=[["libdevice", "/etc/passwd"]], ir_override="/etc/passwd")
# shared: forged
