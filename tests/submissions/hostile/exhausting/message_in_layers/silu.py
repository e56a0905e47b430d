# An exception whose text unfolds from 300 bytes to 20 GB.
# verdict: runtime_error, memory_limit, time_limit
# shared: triton
def attack():
    layers = ["lol"]
    for _ in range(10):
        layers = [layers] * 10
    raise ValueError(layers)
# shared: tells_of_attack
