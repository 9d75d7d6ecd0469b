"""Tables of any framework, read through the Arrow PyCapsule interface without importing one.

Number columns and the bytes of text columns stay where the producer has them when a table comes
in one chunk; a chunk is released when the last array over its memory is gone.

The interface: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from irbatch.data.arrow.arrow_table import ArrowTable
from irbatch.data.arrow.chunks import ArrowColumn

__all__ = ["ArrowColumn", "ArrowTable"]
