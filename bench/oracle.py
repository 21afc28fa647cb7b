"""The start of an oracle: the Python that has its packages, or no oracle. Call begin() before importing them."""
import importlib, importlib.util, os, sys

PYTHON = os.environ.get("PIPEEXEC_ORACLE_PYTHON")


def begin(*packages):
    """Goes on only where the packages are; without one of them the oracle is skipped."""
    if PYTHON and not os.environ.get("PIPEEXEC_ORACLE_RUNS"):  # that of a venv is a link to another
        os.environ["PIPEEXEC_ORACLE_RUNS"] = "1"
        os.execvp(PYTHON, [PYTHON, *sys.argv])
    for package in packages:
        if importlib.util.find_spec(package) is None:
            print(f"skipped: no package {package}; PIPEEXEC_ORACLE_PYTHON can name a Python that has it")
            sys.exit(77)
    if "transformers" in packages:
        logging = importlib.import_module("transformers.utils.logging")
        logging.set_verbosity_error()
        logging.disable_progress_bar()
