"""The command `irbatch`, also as `python -m irbatch`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn


def run() -> NoReturn:
    """Carry out the command that this process was started for, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    from irbatch.cli import run

    run()


def _interrupted(*_: Any) -> None:
    """Leave at once while modules are imported, which a KeyboardInterrupt would leave half done."""
    if not getattr(sys.modules.get("irbatch.cli"), "is_at_work", False):
        os.write(2, b"irbatch: error: interrupted\n")
        os._exit(130)
    raise KeyboardInterrupt


if __name__ == "__main__":
    run()
