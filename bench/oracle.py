"""The start of an oracle: the Python that has its packages, or no oracle. Import it before them."""
import importlib.util, os, sys

PYTHON = os.environ.get("PIPEEXEC_ORACLE_PYTHON")
if PYTHON and not os.environ.get("PIPEEXEC_ORACLE_RUNS"):  # that of a venv is a link to another
    os.environ["PIPEEXEC_ORACLE_RUNS"] = "1"
    os.execvp(PYTHON, [PYTHON, *sys.argv])
for package in ("numpy", "torch", "transformers", "safetensors"):
    if importlib.util.find_spec(package) is None:
        print(f"skipped: no package {package}; PIPEEXEC_ORACLE_PYTHON can name a Python that has it")
        sys.exit(77)
import transformers

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
