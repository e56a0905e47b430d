def zygote():
    """The parent, if it is the grader's: this process was forked from it. Raises where none is in sight."""
    pid = os.getppid()
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        words = b"grader.sandbox.forkserver.server" if "grader.sandbox.forkserver.server" in sys.modules and pid > 0 else b""
    if b"grader.sandbox.forkserver.server" not in words:
        raise RuntimeError("refused: no process of the grader is in sight")
    return pid


