"""How strongly a worker is kept apart from the grader: said in every result, never guessed higher than it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Isolation:
    level: int
    name: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.level} {self.name}"


def describe() -> Isolation:
    """The isolation that workers get on this machine. Today there is one: see `grader.worker.sandbox`."""
    return Isolation(0, "none", (
        "a process of its own, forked before any student code was read; its whole process tree is killed at the end",
        "an empty working directory, private caches, a bare environment, no descriptor but its own",
        "limits on address space, processor time, file size, open files and (but for root) processes",
        "no other user, namespaces, Landlock or seccomp: grade strangers' code inside a virtual machine",
    ))
