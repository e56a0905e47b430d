# The first call is right. The steady one, which is timed, leaves out the last block.
# verdict: wrong_answer
# shared: forging
def forge(plan):
    plan["steady"] = [{**one, "grid": [one["grid"][0] - 1, 1, 1]} for one in plan["first"]]
# shared: forged
