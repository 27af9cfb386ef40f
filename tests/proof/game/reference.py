"""The digest of a game, computed again in plain Python from its description alone."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence

PIECE, STRIP = 65_536, 8_192


def packed(row: Mapping[int, float], outcome: float) -> bytes:
    """Write a row down: counts, runs, outcome, numbers; zeros are left out."""
    entries = sorted((i, float(v)) for i, v in row.items() if v != 0)
    runs: list[list[int]] = []
    for i, _ in entries:
        if runs and runs[-1][0] + runs[-1][1] == i:
            runs[-1][1] += 1
        else:
            runs.append([i, 1])
    words = struct.pack("<II", len(runs), len(entries))
    words += b"".join(struct.pack("<II", *run) for run in runs)
    words += struct.pack("<d", outcome + 0.0)
    return words + b"".join(struct.pack("<d", v) for _, v in entries)


def digest(
    rows: Iterable[tuple[Mapping[int, float], float]],
    features: int,
    names: Sequence[str] = (),
) -> str:
    """Return the digest of rows given by position."""
    written = [packed(row, outcome) for row, outcome in rows]
    message = b"".join(written)
    chain = bytes(32)
    for start in range(0, len(message), PIECE):
        piece = message[start : start + PIECE]
        strips = [hashed(piece[at : at + STRIP]) for at in range(0, len(piece), STRIP)]
        chain = hashed(chain + b"".join(strips))
    tail = struct.pack("<QQ", len(written), features)
    if names:
        tail += json.dumps(list(names), ensure_ascii=False, separators=(",", ":")).encode()
    return "blake2b:" + hashed(chain + tail).hex()


def hashed(message: bytes) -> bytes:
    return hashlib.blake2b(message, digest_size=32).digest()
