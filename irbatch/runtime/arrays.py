"""Arrays of any library, tensors of torch among them, as arrays of NumPy.

No framework is imported: an object that comes from one brings its own methods along.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from irbatch.array_types import Bools, NDArray
from irbatch.errors import InputError, kind_of
from irbatch.runtime.kernels import as_input, kernel

HALF_NORMAL, HALF_INFINITY = 0x400, 0x7C00  # the bits of float16's least normal number, and others
REBASE = (127 - 15) << 23  # from an exponent of float16 to that of float32

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def uncompiled(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Return a function that `torch.compile` neither looks into nor specializes on shapes."""

    @functools.wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        if "torch._dynamo" not in sys.modules:
            return function(*args, **kwargs)
        result: Returned = sys.modules["torch"].compiler.disable(function)(*args, **kwargs)
        return result

    call._torchdynamo_disable = True  # type: ignore[attr-defined]
    return call


def to_numpy(values: Any, source: str) -> NDArray[Any]:
    """Return an array, without a copy where the memory can be shared.

    Args:
        values: an array, a torch tensor, anything with ``__array__`` or DLPack, or nested
            sequences. Of a masked array the data; bfloat16 and narrower floats become float32,
            exactly.
        source: what errors call them.

    Raises:
        InputError: if rows differ in length, or the values cannot be read as an array.
    """
    if is_tensor(values):
        return _from_tensor(values, source)
    if isinstance(values, list | tuple) and any(map(is_tensor, values)):
        values = [_from_tensor(value, source) if is_tensor(value) else value for value in values]
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            array = np.from_dlpack(values)
        else:
            array = without_mask(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as problem:
        message = f"{kind_of(values)} cannot be read as an array: {problem}"
        if isinstance(values, list | tuple):
            message = "rows are not of one length"
        raise InputError(message, source=source) from None
    if array.dtype == object and array.ndim == 0:
        raise InputError(f"{kind_of(values)} is not an array of numbers", source=source)
    if array.dtype.kind == "V" and "float" in array.dtype.name:  # bfloat16 as JAX has it
        array = array.astype(np.float32)
    return array


def without_mask(values: Any) -> NDArray[Any]:
    """Return what is or makes an array as one; of a masked one the data."""
    return np.asarray(values.data if is_masked(values) else values)


def is_masked(values: Any) -> bool:
    """Tell whether it is a masked array, without importing numpy.ma, which takes 10 ms."""
    return isinstance(values, getattr(sys.modules.get("numpy.ma"), "MaskedArray", ()))


def mask_of(values: Any) -> Bools | None:
    """Return which cells are masked; None if it is not a masked array, or has no mask."""
    if not is_masked(values) or np.ma.getmask(values) is np.ma.nomask:
        return None
    return np.asarray(np.ma.getmaskarray(values))


def is_tensor(values: Any) -> bool:
    """Tell whether it is a tensor of torch."""
    if type(values) is np.ndarray or "torch" not in sys.modules:
        return False
    kind: Any = type(values)
    return _is_of_tensors(kind)


@functools.lru_cache(maxsize=64)
def _is_of_tensors(kind: Any) -> bool:
    return any(  # no framework is loaded just to ask
        base.__name__ == "Tensor" and base.__module__.split(".")[0] == "torch"
        for base in kind.__mro__
    )


def is_on_accelerator(values: Any) -> bool:
    """Tell whether it is a tensor of torch whose numbers are somewhere else than in main memory."""
    return is_tensor(values) and values.device.type not in ("cpu", "meta")  # that has none


def is_sparse(values: Any) -> bool:
    """Tell whether it is a sparse matrix, of SciPy or of torch."""
    if is_tensor(values):
        return values.layout is not sys.modules["torch"].strided
    return hasattr(values, "tocsr")


def _from_tensor(tensor: Any, source: str) -> NDArray[Any]:
    tensor = tensor.detach()
    name = str(tensor.dtype).removeprefix("torch.")
    try:
        if not is_sparse(tensor) and tensor.device.type != "cpu":
            tensor = tensor.cpu()
        if name == "bfloat16" and not is_sparse(tensor):
            # As NumPy moves bits: torch's threads wait for each other on a busy machine.
            bits = tensor.resolve_neg().view(sys.modules["torch"].int16).numpy()
            wide: NDArray[Any] = np.left_shift(bits.view(np.uint16), 16, dtype=np.uint32)
            return wide.view(np.float32)
        if name.startswith(("bfloat", "float8", "float4")):
            tensor = tensor.float()
        array: NDArray[Any] = tensor.resolve_conj().resolve_neg().numpy()
    except (TypeError, RuntimeError) as problem:  # sparse, or on a device that has no numbers
        message = f"{kind_of(tensor)} cannot be read as an array: {problem}"
        raise InputError(message, source=source) from None
    return array


def widen(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers, float16 as float32, in an eighth of NumPy's time."""
    if numbers.dtype != np.float16 or not numbers.dtype.isnative:
        return numbers
    bits, wide = as_input(numbers).view(np.uint16), np.empty(numbers.shape, np.float32)
    _widen_halves.run(20 * bits.size, bits.reshape(-1), wide.reshape(-1))
    return wide


@kernel
def _widen_halves(bits: NDArray[np.uint16], wide: NDArray[np.float32]) -> None:
    for i in range(bits.size):
        number = np.int32(bits[i])  # as wide as the result at each step: half the time
        size = np.int32(number & np.int32(0x7FFF))
        rebase = np.int32(REBASE if size < HALF_INFINITY else 2 * REBASE)
        value = np.int32(np.int32(size << np.int32(13)) + rebase).view(np.float32)
        if size < HALF_NORMAL:
            value = np.float32(np.float32(size) * np.float32(2.0**-24))
        wide[i] = value if number == size else np.float32(-value)
