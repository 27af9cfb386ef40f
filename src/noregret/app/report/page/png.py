"""PNG images with a palette, embedded in the page as data URLs."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
# From quiet to loud, in increasing lightness, so that it is readable in grey.
STOPS = (
    (6, 5, 22),
    (38, 14, 84),
    (101, 25, 124),
    (171, 45, 100),
    (228, 92, 58),
    (250, 166, 60),
    (252, 250, 205),
)


def colours() -> Bytes:
    """Return 256 colours, from dark to light."""
    stops = np.array(STOPS, dtype=np.float64)
    at = np.linspace(0, len(stops) - 1, 256)
    mixed = [np.interp(at, np.arange(len(stops)), stops[:, k]) for k in range(3)]
    return np.rint(np.stack(mixed, axis=1)).astype(np.uint8)


def png(pixels: Bytes, palette: Bytes) -> bytes:
    """Return an image as a PNG file; the first row is at the top.

    Parameters
    ----------
    pixels
        Index of the colour of every pixel, row by row.
    palette
        Up to 256 colours: red, green and blue.
    """
    height, width = pixels.shape
    rows = np.zeros(
        (height, width + 1), dtype=np.uint8
    )  # each row begins with its filter type: none
    rows[:, 1:] = pixels
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            chunk(b"PLTE", palette.tobytes()),
            chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            chunk(b"IEND", b""),
        )
    )


def chunk(name: bytes, contents: bytes) -> bytes:
    """Return a chunk of a PNG file, with its length and checksum."""
    check = zlib.crc32(name + contents)
    return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", check)


def as_url(picture: bytes) -> str:
    """Return an image as a data URL."""
    return f"data:image/png;base64,{b64encode(picture).decode()}"
