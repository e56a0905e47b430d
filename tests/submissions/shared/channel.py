def channel():
    """The judge's end of the conversation: the one descriptor that is a socket."""
    for number in range(3, 128):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return socket.socket(fileno=number)
        except OSError:
            pass
    raise RuntimeError("no socket")


def asked(judge):
    """The judge's next question, and the memory file that takes the plan."""
    frame, given, _, _ = socket.recv_fds(judge, 1 << 16, 16)
    if not frame:
        os._exit(0)
    return json.loads(frame), given


