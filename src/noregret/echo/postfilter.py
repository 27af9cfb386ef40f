"""The weights of the residual suppressor's network, as ``tools/train_postfilter.py`` wrote them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WEIGHTS = Path(__file__).with_name("postfilter.npy")


@cache
def weights() -> NDArray[np.float32]:
    """Return the weights in the order of ``engine/postfilter.h``."""
    return np.ascontiguousarray(np.load(WEIGHTS, allow_pickle=False), dtype=np.float32)
