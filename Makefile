# `make grade` and `make test` set up .venv when it is missing or older than the files that describe it.

include student_kit/setup.mk
SUBMISSIONS ?= examples/class
OUT ?= results
ONLY ?=
ROSTER ?=
COURSE ?= course.toml
DEVICE ?= auto
JOBS ?= 0
KIT ?= build/kernels
# The first that answers: docker's client alone builds nothing.
BUILDER ?= $(firstword $(foreach one,docker podman buildah,$(shell $(one) info >/dev/null 2>&1 && echo $(one))))
# The sample class is trusted: it is graded on a machine that keeps nobody's code apart, too.
ISOLATION ?= $(if $(filter examples/class examples/class/%,$(SUBMISSIONS)),--allow-degraded)
# Tests wait for processes of theirs a good part of the time: five at a time on two cores keep both busy, three do not.
SIDE_BY_SIDE := $(shell echo $$(($$(nproc) + 3)))
# Compiled modules are kept, even where a user's environment says not to: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=
# What `make test`, and `make serve`, need beyond what `make grade` does.
TEST_TOOLS := $(VENV)/.test-tools
SERVE_TOOLS := $(VENV)/.serve-tools
# The newest triton and numpy that pyproject.toml declares, all else as in $(VENV).
NEWEST := .venv-newest
NEWEST_TOOLS := $(NEWEST)/.test-tools

.DEFAULT_GOAL := help
.PHONY: help setup grade serve sample student-kit image test test-all test-room test-newest verdicts hooks lint types check doctor clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  make grade SUBMISSIONS=dir OUT=dir ONLY=silu,gemm COURSE=course.toml JOBS=2 ROSTER=roster.csv"

setup: $(SETUP) ## install into .venv what grading needs; TORCH=cpu or gpu chooses the build of torch
	@command -v bwrap >/dev/null || echo "bubblewrap is missing, which keeps submissions apart best:" \
		"apt install bubblewrap (kernelmark doctor says what this machine offers without it)"

grade: $(SETUP) ## grade SUBMISSIONS (default: the sample class) and write reports to OUT
	exec $(BIN)/kernelmark grade "$(SUBMISSIONS)" --out "$(OUT)" --only "$(ONLY)" --course "$(COURSE)" --device "$(DEVICE)" \
		--jobs "$(JOBS)" $(if $(ROSTER),--roster "$(ROSTER)") $(ISOLATION)

sample: ## grade the sample class and write its pages to docs/sample
	rm -rf docs/sample/.attempts
	$(MAKE) grade SUBMISSIONS=examples/class OUT=docs/sample
	find docs/sample -name '*.html' -exec sed -i 's|$(CURDIR)/||g' {} +  # where it was made is nobody's business

serve: $(SERVE_TOOLS) ## serve the course on the loopback, with links for a trial student and for staff
	exec $(BIN)/kernelmark serve --out $(OUT) --course "$(COURSE)" --trial

student-kit: $(SETUP) ## make what students get, as the folder KIT and a zip
	exec $(BIN)/kernelmark kit "$(KIT)" --course "$(COURSE)"

image: ## build the container image `kernelmark`, with docker, podman or buildah
	@test -n "$(BUILDER)" || { echo "kernelmark: no docker, podman or buildah answers; install one, or start its service"; exit 2; }
	$(BUILDER) build --build-arg TORCH=$(TORCH) --build-arg EXTRAS=cuda,cluster,numba,server --tag kernelmark --file student_kit/Dockerfile .

test: $(TEST_TOOLS) ## run the quick tests, which need no GPU
	$(BIN)/python -m pytest -n $(SIDE_BY_SIDE) --dist worksteal

test-all: $(TEST_TOOLS) ## run every test that needs no GPU; says which are too slow for `make test`
	$(BIN)/python -m pytest -n $(SIDE_BY_SIDE) --dist worksteal -m "not gpu" --tiers --junitxml=build/tests.xml

test-room: $(TEST_TOOLS) ## run the quick tests of what imports ROOM, a folder or file of grader/ (pages, judging/plans)
	@test -n "$(ROOM)" && test -e "grader/$(ROOM)" || test -e "grader/$(ROOM).py" || { \
		echo "kernelmark: ROOM=$(ROOM) is not in grader/; name a folder or a file of it, such as ROOM=pages"; exit 2; }
	$(BIN)/python -m pytest -n $(SIDE_BY_SIDE) --dist worksteal $$(grep -rlE --include='test_*.py' --exclude-dir=gpu \
		'grader[./]$(subst /,[./],$(ROOM))\b' tests)

test-newest: $(NEWEST_TOOLS) ## those marked `newest`, with the newest triton and numpy, in .venv-newest
	@$(NEWEST)/bin/python -c 'import numpy, torch, triton; \
		print(f"triton {triton.__version__}, numpy {numpy.__version__}, torch {torch.__version__}")'
	$(NEWEST)/bin/python -m pytest -n $(SIDE_BY_SIDE) --dist worksteal -m "newest and not gpu" \
		tests/test_submissions.py tests/device tests/languages

verdicts: $(TEST_TOOLS) ## write what the corpus of submissions gets to tests/verdicts.json
	$(BIN)/python -m pytest -n $(SIDE_BY_SIDE) --dist worksteal --write-verdicts -m "not gpu" -k "not same_without" \
		tests/test_submissions.py tests/test_hostile.py tests/test_hints.py

hooks: $(TEST_TOOLS) ## have git run ruff, import contracts and mypy before each commit
	$(BIN)/pre-commit install

lint: $(TEST_TOOLS) ## ruff, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(TEST_TOOLS) ## mypy, strict
	$(BIN)/mypy

check: lint types test ## lint, types and tests

doctor: $(SETUP) ## say what this machine can do
	$(BIN)/kernelmark doctor

clean: ## remove .venv and .venv-newest
	rm -rf $(VENV) $(NEWEST)

$(SERVE_TOOLS): $(SETUP)
	$(INSTALL) --quiet --editable '.[server]'
	@touch $@

$(TEST_TOOLS): $(SETUP)
	$(INSTALL) --quiet --editable '.[dev,numba]'
	@touch $@

# torch's CUDA wheels pin the triton that belongs to them: hence, after all the rest, triton without what it asks for.
$(NEWEST_TOOLS): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "kernelmark: Python 3.11 or newer expected; try make PYTHON=/path/to/python3"; exit 2; }
	@test -x $(NEWEST)/bin/python || { rm -rf $(NEWEST); "$(PYTHON)" -m venv $(NEWEST); }
	@echo "setting up $(NEWEST) (minutes the first time)"
	grep -v -e '^triton==' -e '^numpy==' constraints.txt > $(NEWEST)/constraints.txt
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(NEWEST)/constraints.txt \
		--upgrade --editable '.[dev]'
	declared=$$(sed -n 's/^    "\(triton[^"]*\)",$$/\1/p' pyproject.toml); \
		$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --no-deps "$$declared"
	@touch $@
