"""Names of the array types that signatures share; shapes stand in docstrings."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.signedinteger]
Bools = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.intp]

# Kernels are compiled for the arrays that their annotations name: of one dimension, or as many as
# are added here (see `irbatch.runtime.build_kernels.declared_kinds`).
Ints2 = Annotated[Ints, 2]
Floats2 = Annotated[Floats, 2]
Floats3 = Annotated[Floats, 3]
Bytes2 = Annotated[Bytes, 2]
Codes2 = Annotated[Codes, "i1 i2 i4", 2]
