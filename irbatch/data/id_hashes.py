"""Hashes of ids that are the same in any process, on any machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

IdHashes = npt.NDArray[np.uint64]
NO_HASHES: IdHashes = np.empty(0, np.uint64)


def hash_ids(ids: Iterable[Any]) -> IdHashes:
    """Hash ids to 64 bits: uint64 ``(ids,)``. Texts and whole numbers are never the same.

    Of 10 million ids two have the same hash with a probability of 3 in a million.

    >>> hash_ids(["7", 7]).tolist()
    [9407870976149377255, 936781076493812202]
    """
    from hashlib import blake2b

    def digest(each: Any) -> bytes:
        if isinstance(each, str):
            return blake2b(each.encode(errors="surrogatepass"), digest_size=8).digest()
        return blake2b(b"%d" % each, digest_size=8, person=b"number").digest()

    return np.frombuffer(b"".join(map(digest, ids)), "<u8").astype(np.uint64)


def fingerprint(queries: Iterable[Any], *facts: object) -> str:
    """Return a text that tells judgments apart by their queries, in any order, and by facts."""
    mixed = int(np.bitwise_xor.reduce(hash_ids(queries), initial=np.uint64(0)))
    return ", ".join([*map(str, facts), f"{mixed:016x}"])
