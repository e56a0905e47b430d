def buffer(plan, name):
    """The number of a parameter's buffer."""
    return [one["given"] for one in plan["buffers"]].index(name)


def launches(plan):
    return [one for one in plan["first"] if one["op"] == "launch"]


