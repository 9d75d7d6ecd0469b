"""Tables of any framework, read through the Arrow PyCapsule interface without importing one.

Number columns and the bytes of text columns stay where the producer has them when a table comes
in one chunk; a chunk is released when the last array over its memory is gone.

The interface: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from irbatch.data.arrow.columns import Column
from irbatch.data.arrow.table import ArrowTable

__all__ = ["ArrowTable", "Column"]
