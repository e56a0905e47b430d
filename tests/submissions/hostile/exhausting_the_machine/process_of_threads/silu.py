# Starts 300 threads that sleep for five seconds.
# verdict: runtime_error, memory_limit
import threading
import time
# shared: and_triton
THREADS = 300


def attack():
    for count in range(THREADS):
        try:
            threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        except RuntimeError as error:
            raise RuntimeError(f"refused: {error} after {count}") from None
    time.sleep(1)
# shared: tells_of_attack
