# Installs the checker into .venv, for the Makefiles that include this: setup.sh says how.

SETUP_SH := $(dir $(lastword $(MAKEFILE_LIST)))setup.sh
PYTHON ?= $(shell sh $(SETUP_SH) python)
VENV := .venv
BIN := $(VENV)/bin
# The build of torch, cpu or gpu: PyPI's brings CUDA's libraries along. What is there stays, unless TORCH= says otherwise.
TORCH ?= $(or $(patsubst $(VENV)/.setup-%,%,$(firstword $(wildcard $(VENV)/.setup-*))),$(shell \
	command -v nvidia-smi >/dev/null && echo gpu || echo cpu))
SETUP := $(VENV)/.setup-$(TORCH)
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --constraint $(VENV)/constraints.txt

# Each time: a clone may have been moved, and a Python upgraded. A clone that is set up stays as it is, which takes 0.05 s.
$(SETUP): FORCE
	@VENV='$(VENV)' TORCH='$(TORCH)' PYTHON='$(if $(filter file,$(origin PYTHON)),,$(PYTHON))' sh $(SETUP_SH)

FORCE:
