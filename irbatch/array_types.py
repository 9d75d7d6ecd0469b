"""Names of the array types that signatures share; shapes stand in docstrings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.signedinteger]
Bools = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.intp]
