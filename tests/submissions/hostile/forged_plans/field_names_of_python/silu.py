# Fields with the names by which Python keeps classes and attributes.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Extra inputs are not permitted
# shared: forging
def forge(plan):
    plan["__class__"] = plan["model_config"] = {"extra": "allow"}
    plan["first"][0]["__dict__"] = {"op": "fill"}
# shared: forged
