import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

def scores(
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    values: Floats,
    w: Floats,
    first: int,
    stop: int,
    absolute: bool,
    out: Floats,
) -> None: ...
def lengths(
    starts: NDArray[np.int64], values: Floats, first: int, stop: int, out: Floats
) -> None: ...
def combine(
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    values: Floats,
    a: Floats,
    first: int,
    stop: int,
    power: int,
    out: Floats,
) -> None: ...
def combine_carefully(
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    values: Floats,
    a: Floats,
    first: int,
    stop: int,
    high: Floats,
    low: Floats,
    size: Floats,
) -> None: ...
def bend(
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    values: Floats,
    d: Floats,
    v: Floats,
    first: int,
    stop: int,
    out: Floats,
) -> None: ...
def gram(
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    values: Floats,
    d: Floats,
    first: int,
    stop: int,
    out: Floats,
) -> None: ...
def cross(
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    values: Floats,
    d: Floats,
    places: NDArray[np.int32],
    first: int,
    stop: int,
    own_places: NDArray[np.int32],
    own_values: Floats,
    out: Floats,
) -> None: ...
