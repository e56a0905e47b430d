# 300,000 warnings, each of its own.
# verdict: runtime_error, time_limit
import warnings

# shared: triton
def attack():
    warnings.simplefilter("always")
    for number in range(300_000):
        warnings.warn(f"<script>{number}</script>", stacklevel=1)
    raise RuntimeError("warned")
# shared: tells_of_attack
