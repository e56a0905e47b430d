# Installs the checker into .venv, for the Makefiles that include this. After an interruption `make` begins anew, with
# the downloads that pip keeps.

# The first of these that runs and is new enough; a name on the path may be a version manager's empty shim.
PYTHON ?= $(shell for p in python3.12 python3.11 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
# The build of torch, cpu or gpu: PyPI's brings CUDA's libraries along. What is there stays, unless TORCH= says otherwise.
TORCH ?= $(or $(patsubst $(VENV)/.setup-%,%,$(firstword $(wildcard $(VENV)/.setup-*))),$(shell \
	command -v nvidia-smi >/dev/null && echo gpu || echo cpu))
SETUP := $(VENV)/.setup-$(TORCH)
CPU_WHEELS := https://download.pytorch.org/whl/cpu
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --constraint $(VENV)/constraints.txt
# Sizes with Python 3.11, as `pip download` and `du` count them: torch 2.13.0, triton 3.6.0; with CUDA triton 3.7.1.
COST_cpu := 0.44 GB to download (torch for CPUs 192 MB, triton 188 MB, the rest 60 MB), 1.8 GB on disk. \
	With an NVIDIA GPU: make setup TORCH=gpu
COST_gpu := 2.8 GB to download (torch 0.5 GB, libraries of CUDA 2 GB, triton 0.2 GB), 5.2 GB on disk. \
	Without a GPU: make setup TORCH=cpu, 0.44 GB

$(SETUP): pyproject.toml constraints.txt
	@test -n "$(COST_$(TORCH))" || { echo "kernelmark: TORCH=$(TORCH): cpu or gpu expected"; exit 2; }
	@test "$$(uname -s)" = Linux || { echo "kernelmark: Linux expected; elsewhere use the container, see README.md"; exit 2; }
	@test -n "$(PYTHON)" || { echo "kernelmark: Python 3.11 or newer expected; try make PYTHON=/path/to/python3"; exit 2; }
	@# What was interrupted may have left half a package; the other build of torch has the same version, so pip keeps it.
	@if test -e $(VENV)/.unfinished || ls $(VENV)/.setup-* 2>/dev/null | grep -qv -e '-$(TORCH)$$'; then rm -rf $(VENV); fi
	@echo 'setting up $(VENV), once: $(COST_$(TORCH))'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || rm -rf $(VENV)
	@mkdir -p $(VENV) && touch $(VENV)/.unfinished
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV) || \
		{ echo "kernelmark: python -m venv failed; on Debian and Ubuntu: apt install python3-venv"; exit 2; }
	@# torch with CUDA pins the triton that belongs to it.
	@grep -v $(if $(filter gpu,$(TORCH)),-e '^triton==') -e '^#' constraints.txt > $(VENV)/constraints.txt
	@test $(TORCH) = gpu || $(INSTALL) --no-deps --index-url $(CPU_WHEELS) torch || \
		{ echo "kernelmark: no torch from $(CPU_WHEELS); try again, or take PyPI's, 2.8 GB: make setup TORCH=gpu"; exit 2; }
	@$(INSTALL) --editable .
	@rm $(VENV)/.unfinished
	@touch $@
