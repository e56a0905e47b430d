# A plan of 20 MB, nearly all of it blanks.
# verdict: runtime_error
# expect: asks for more than a plan can hold
# shared: forging
def forge(plan):
    return json.dumps(plan) + " " * 20_000_000
# shared: forged
