"""Isolation of a process: namespaces, another user, Landlock, seccomp, cgroups, limits."""
