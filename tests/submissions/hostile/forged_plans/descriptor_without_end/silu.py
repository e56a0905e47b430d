# A descriptor whose blocks hold 2^100 elements.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a descriptor that does not fit its kernel's signature
# shared: forging
# shared: plan
def forge(plan):
    view = {"buffer": 0, "shape": [4] * 5, "strides": [256, 64, 16, 4, 1], "dtype": "float32"}
    for launch in launches(plan):
        launch["arguments"][0] = {"kind": "descriptor", "view": view, "block": [1 << 20] * 5}
# shared: forged
