def zygote():
    """The parent, if it is the grader's: this process was forked from it. Raises where none is in sight."""
    pid = os.getppid()
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        words = b"grader.engine.forkserver.server" if "grader.engine.forkserver.server" in sys.modules and pid > 0 else b""
    if b"grader.engine.forkserver.server" not in words:
        raise RuntimeError("refused: no process of the grader is in sight")
    return pid


