# Runs the programs that make one root.
# verdict: runtime_error, time_limit
import errno
import subprocess
# shared: and_triton
COMMANDS = (("su", "-c", "id -u"), ("sudo", "-n", "id", "-u"), ("pkexec", "id", "-u"), ("id", "-u"))


def attack():
    said = []
    for command in COMMANDS:
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=1, text=True)
        except subprocess.TimeoutExpired:
            said.append(f"{command[0]} waits")
            continue
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EAGAIN, errno.ENOMEM, errno.ENOTDIR):
                raise
            said.append(f"{command[0]} {errno.errorcode[error.errno]}")
            continue
        if done.stdout.strip() == "0":
            return
        said.append(f"{command[0]} {done.returncode}")
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: tells_of_attack
