"""Reading Parquet files, with pyarrow or polars, whichever is there."""

from __future__ import annotations

import io
import os
from typing import Any

from irbatch.data.column_names import find_columns
from irbatch.errors import ErrorsIn, InputError
from irbatch.runtime.extras import imported


def read_parquet(path: str | os.PathLike[str], source: str, content: bytes | None = None) -> Any:
    """Return the columns, found by name; `content` is of a file that can be read only once."""
    name = os.fspath(path)
    given: Any = name if content is None else io.BytesIO(content)
    library = imported("Parquet files", "arrow", "pyarrow.parquet", "polars")
    with ErrorsIn(source=source, path=name):
        try:
            if library.__name__ == "polars":
                frame = library.scan_parquet(given, glob=False)
                wanted = find_columns(frame.collect_schema().names(), source, {})
                return frame.select([*wanted.values()]).collect()
            with library.ParquetFile(given) as file:
                wanted = find_columns(file.schema_arrow.names, source, {})
                return file.read(columns=[*wanted.values()])
        except InputError:
            raise
        except OSError as problem:
            raise InputError(problem.strerror or str(problem)) from problem
        except Exception as problem:  # each library has its own for damaged files
            raise InputError(f"cannot be read as Parquet: {problem}") from problem
