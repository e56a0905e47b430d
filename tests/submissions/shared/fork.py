def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


