# Text that doubles 40 times, and a megabyte that unpacks to a gigabyte a thousand times.
# verdict: memory_limit, time_limit
import zlib

# shared: triton
def attack():
    pack = zlib.compressobj(9)
    small = b"".join(pack.compress(bytes(1 << 20)) for _ in range(1024)) + pack.flush()
    kept = [zlib.decompress(small) for _ in range(1000)]
    text = "lol"
    for _ in range(40):
        text += text
    raise AssertionError(f"{len(kept)} {len(text)}")
# shared: tells_of_attack
