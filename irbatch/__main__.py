"""The command `irbatch`, also as `python -m irbatch`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

# Commands that need no linear algebra: NumPy need not start the threads it has for it, which takes
# a third of the time of importing it.
SIMPLE = ("eval", "trec_eval", "measures", "warmup")


def run() -> NoReturn:
    """Carry out the command that this process was started for, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    if sys.argv[1:2] and sys.argv[1] in SIMPLE:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from irbatch.cli import FAILED, main

    status = main()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except OSError:  # said already, or the reader has gone
        status = status or FAILED
    if multiprocessing := sys.modules.get("multiprocessing.util"):
        # Semaphores of an interrupted pool, which would be reported as leaked below the error.
        multiprocessing._run_finalizers(0)
    os._exit(status)  # all is written: taking every module down takes another 20 ms


def _interrupted(*_: Any) -> None:
    """Leave at once while modules are imported, which a KeyboardInterrupt would leave half done."""
    if not getattr(sys.modules.get("irbatch.cli"), "is_at_work", False):
        os.write(2, b"irbatch: error: interrupted\n")
        os._exit(130)
    raise KeyboardInterrupt


if __name__ == "__main__":
    run()
