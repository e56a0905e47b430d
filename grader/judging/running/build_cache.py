"""Cache of builds, which is retained from one grading to the next.

The key of a build is a hash of all that it is made from: the builder's role, the request, the file, and the part that
all builds share, which names the compilers and the builder's own code. Only the judge can write here. If a hostile file
takes over its compiler, the build is found again for that very file alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from grader.results.files import replace

MOST_BYTES = 512 << 20
"""The builds that were unused for longest go first."""
_DIGEST = hashlib.sha256().digest_size


class BuildCache:
    """A cache of builds in a folder, which the first build creates. If the folder has no room or cannot be written,
    nothing is cached, and no error is raised."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, *parts: bytes) -> bytes | None:
        """Return the build that was made from these parts; None if it is absent or damaged."""
        path = self._path(parts)
        try:
            kept = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return kept[_DIGEST:] if hashlib.sha256(kept[_DIGEST:]).digest() == kept[:_DIGEST] else None

    def keep(self, made: bytes, *parts: bytes) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Atomically: another lane may write the same build.
            replace(self._path(parts), hashlib.sha256(made).digest() + made, 0o600)
            self._sweep()

    def _path(self, parts: tuple[bytes, ...]) -> Path:
        return self._folder / hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()

    def _sweep(self) -> None:
        left = MOST_BYTES
        entries = [(path.stat(), path) for path in self._folder.iterdir()]
        for entry, path in sorted(entries, key=lambda pair: pair[0].st_mtime, reverse=True):
            left -= entry.st_size
            if left < 0:
                path.unlink(missing_ok=True)
