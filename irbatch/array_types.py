"""Names of the array types that signatures share; shapes stand in docstrings."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import numpy as np

Scalar = TypeVar("Scalar", bound=np.generic, covariant=True)
NDArray = np.ndarray[Any, np.dtype[Scalar]]  # as numpy.typing has it, which takes 1 ms to import

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Codes = NDArray[np.signedinteger]
Bools = NDArray[np.bool_]
Positions = NDArray[np.intp]

# Kernels are compiled for the arrays that their annotations name: of one dimension, or as many as
# are added here (see `irbatch.runtime.build_kernels.declared_kinds`).
Ints2 = Annotated[Ints, 2]
Floats2 = Annotated[Floats, 2]
Floats3 = Annotated[Floats, 3]
Bytes2 = Annotated[Bytes, 2]
Codes2 = Annotated[Codes, "i1 i2 i4", 2]
