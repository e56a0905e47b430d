# Names of half characters, null bytes, markup and marks that turn text round.
# verdict: runtime_error
# expect: its plan does not hold
# expect: lone leading surrogate in hex escape
# shared: forging
def forge(plan):
    for kernel in plan["kernels"]:
        kernel["name"] = "\ud800\x00<script>alert(1)</script>\u202e\x1b[2J"
    plan["first"] = []
    plan["steady"] = None
# shared: forged
