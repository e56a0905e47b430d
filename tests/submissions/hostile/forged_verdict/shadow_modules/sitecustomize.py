# Would be imported in the place of the real one, if this folder were on the path of anybody.
from pathlib import Path

# shared: imported
