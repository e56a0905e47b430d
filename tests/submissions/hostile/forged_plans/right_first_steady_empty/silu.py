# The first call is right. The steady one, which is timed, launches nothing.
# verdict: wrong_answer, runtime_error
# shared: forging
def forge(plan):
    plan["steady"] = []
# shared: forged
