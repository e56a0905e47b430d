#!/bin/sh
# Installs the checker into $VENV, for `make` in the folder that it is run in, unless it is there, whole and this
# folder's: with the build of torch that $TORCH names, cpu or gpu, by $PYTHON, or else the first python3 that is new
# enough. Two at once wait for each other. After an interruption it begins anew, with the downloads that pip keeps.
set -u
NEEDED=3.11
CPU_WHEELS=https://download.pytorch.org/whl/cpu
# As `pip download` and `du` count them with Python 3.11: torch 2.13.0, triton 3.6.0; with CUDA triton 3.7.1.
COST_cpu='0.44 GB to download (torch for CPUs 192 MB, triton 188 MB, the rest 60 MB), 1.8 GB on disk. With an NVIDIA GPU: make setup TORCH=gpu'
COST_gpu='2.8 GB to download (torch 0.5 GB, libraries of CUDA 2 GB, triton 0.2 GB), 5.2 GB on disk. Without a GPU: make setup TORCH=cpu, 0.44 GB'

fail() { echo "kernelmark: $*" >&2; exit 2; }

recent() { "$1" -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$NEEDED'.split('.'))))" 2>/dev/null; }

# A name on the path may be a version manager's empty shim.
newest() { for one in python3.12 python3.11 python3 python; do recent "$one" && { echo "$one"; return; }; done; }

# A clone that was moved or copied keeps an environment that runs the code of the old place, or none; one whose Python
# was upgraded or removed runs none.
belongs() {
    "$VENV/bin/python" -I -c 'import os, sys, grader.home; sys.exit(str(grader.home.ROOT) != os.getcwd())' 2>/dev/null \
        && [ -x "$VENV/bin/kernelmark" ]
}

ready() {
    [ -e "$STAMP" ] && [ ! "$STAMP" -ot pyproject.toml ] && [ ! "$STAMP" -ot constraints.txt ] && belongs
}

# Why what is in $VENV cannot be built upon; "" if it can, or there is nothing.
spoilt() {
    [ -n "$(ls -A "$VENV" 2>/dev/null)" ] || return 0
    for one in "$VENV"/.setup-* "$VENV/.unfinished"; do
        [ -e "$one" ] || continue
        [ "$one" = "$STAMP" ] || case $one in
            */.unfinished) echo 'its setup was interrupted'; return ;;
            *) echo 'it has the other build of torch'; return ;;
        esac
        belongs || echo 'it was made in another folder, or its Python is gone'
        return
    done
    # One that works, as a user or a cache of a runner's made it, is installed into.
    [ -f "$VENV/pyvenv.cfg" ] && recent "$VENV/bin/python" && "$VENV/bin/python" -m pip --version >/dev/null 2>&1 && return
    fail "$VENV was not made by make, so it is left as it is; move it away, or name another: make setup VENV=.venv-kernelmark"
}

# pip's errors, which are shown as they come, tell the cause.
install() {
    said=$({ "$VENV/bin/python" -m pip --disable-pip-version-check install --constraint "$VENV/constraints.txt" "$@" \
        2>&1 >&3 || echo "pip failed"; } | while IFS= read -r line; do
            [ "$line" = "pip failed" ] || printf '%s\n' "$line" >&2
            printf '%s\n' "$line"
        done)
    case $said in *"pip failed") ;; *) return 0 ;; esac
    case $said in
        *"No space left on device"* | *"Disk quota exceeded"*)
            fail "the disk is full; free space for $VENV and in ${TMPDIR:-/tmp} (TMPDIR names another folder), then make again" ;;
        *"Permission denied"* | *"Read-only file system"*)
            fail "pip may not write; the lines above say where, then make again" ;;
        *ProxyError* | *ConnectionError* | *"connection broken"* | *ConnectTimeout* | *"timed out"* | *SSLError* | *"HTTP error"*)
            fail "a package could not be downloaded; check the network, and HTTPS_PROXY behind a proxy, then make again" ;;
        *"No matching distribution found"* | *ResolutionImpossible*)
            fail "a package has no version for $("$VENV/bin/python" -V), $(uname -m); make PYTHON=/path/to/python3 takes another Python" ;;
        *) fail "pip failed, as the lines above say; then make again" ;;
    esac
}

[ "${1:-}" != python ] || { newest; exit 0; }
STAMP=$VENV/.setup-$TORCH
ready && exit 0
case $TORCH in cpu) cost=$COST_cpu ;; gpu) cost=$COST_gpu ;; *) fail "TORCH=$TORCH: cpu or gpu expected" ;; esac
[ "$(uname -s)" = Linux ] || fail "Linux expected; elsewhere use the container, see README.md"
[ -w . ] && [ -w pyproject.toml ] || fail "$PWD: $(id -un) may not write here; run make as its owner, or in a clone of your own"
exec 3>&1 9<>pyproject.toml
if command -v flock >/dev/null && ! flock --nonblock 9; then
    echo "another make sets up $VENV; waiting for it"
    flock 9
    ready && exit 0
fi
PYTHON=${PYTHON:-$(newest)}
[ -n "$PYTHON" ] && recent "$PYTHON" || fail "${PYTHON:-no python3}: Python $NEEDED or newer expected; try make PYTHON=/path/to/python3"
why=$(spoilt) || exit 2
if [ -n "$why" ]; then
    echo "removing what is in $VENV: $why"
    # The folder itself stays: it may be a link to a larger disk.
    find "$VENV/" -mindepth 1 -delete || fail "$VENV cannot be removed; check whose it is"
fi
echo "setting up $VENV, once: $cost"
mkdir -p "$VENV" && touch "$VENV/.unfinished" || fail "$VENV cannot be made; check whose this folder is, and its disk"
[ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV" \
    || fail "$PYTHON -m venv failed; on Debian and Ubuntu: apt install python3-venv; where the disk is full, free space"
# torch with CUDA pins the triton that belongs to it.
if [ "$TORCH" = gpu ]; then grep -v -e '^#' -e '^triton==' constraints.txt; else grep -v '^#' constraints.txt; fi \
    > "$VENV/constraints.txt" || fail "$VENV cannot be written; free space there"
# PyPI's build brings CUDA's libraries along; the other one has the same version, so pip keeps it.
[ "$TORCH" = gpu ] || install --no-deps --index-url "$CPU_WHEELS" torch
install --editable .
rm "$VENV/.unfinished" && touch "$STAMP"
