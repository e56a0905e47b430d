# Adds 4 GiB to the address at which the kernel finds its output: another's memory, on a GPU.
# verdict: runtime_error
# expect: after its memory
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["arguments"][1]["offset"] = 1 << 32
# shared: forged
