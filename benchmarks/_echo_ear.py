"""The sound of the near speaker in double talk: STOI (intelligibility), PESQ (quality)."""

from __future__ import annotations

import importlib.util

import numpy as np

from benchmarks._echo_clips import Clip, Floats

PACKAGES = ("pystoi", "pesq")


def installed() -> bool:
    """Return whether both measures are there."""
    return all(importlib.util.find_spec(name) is not None for name in PACKAGES)


def intelligibility(clip: Clip, clean: Floats) -> float:
    """Return STOI of the near speaker, from 0 to 1."""
    from pystoi import stoi

    assert clip.near is not None
    return float(stoi(clip.near, clean, clip.rate))


def quality(clip: Clip, clean: Floats) -> float:
    """Return wide-band PESQ of the near speaker, from 1 to 4.6; NaN if it finds no speech."""
    from pesq import PesqError, pesq

    assert clip.near is not None
    try:
        return float(pesq(clip.rate, clip.near, clean, "wb"))
    except PesqError:
        return float(np.nan)
