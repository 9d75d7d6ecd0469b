"""Libraries that are loaded only where they are needed, and what installs them."""

from __future__ import annotations

import importlib
from typing import Any


def imported(purpose: str, extra: str, *modules: str) -> Any:
    """Import the first of some modules that is installed.

    Raises:
        ImportError: if none is, naming the extra of irbatch that installs one, and what it is for,
            such as ``"frames"``; or that of a module that is installed and fails.
    """
    for module in modules:
        try:
            return importlib.import_module(module)
        except ImportError as problem:
            name = problem.name or module
            if name.partition(".")[0] != module.partition(".")[0]:
                raise  # it is installed, and something that it needs is not
            missing = problem
    raise ImportError(f"for {purpose}: pip install 'irbatch[{extra}]'") from missing
