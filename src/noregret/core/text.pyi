from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

from noregret.core.vocabulary import Vocabulary

class Fault(NamedTuple):
    row: int
    line: int
    column: int
    message: str

class Rows(NamedTuple):
    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]
    outcomes: NDArray[np.float64]
    importances: NDArray[np.float64] | None
    lines: NDArray[np.int64]
    tags: list[str] | None
    faults: list[Fault]
    line_count: int

class Csv(NamedTuple):
    X: NDArray[np.float64]
    outcomes: NDArray[np.float64]
    lines: NDArray[np.int64] | None
    line_count: int
    faults: list[Fault]
    plain: bool

class Scanned:
    @property
    def outcomes(self) -> NDArray[np.float64]: ...
    @property
    def importances(self) -> NDArray[np.float64] | None: ...
    @property
    def lines(self) -> NDArray[np.int64]: ...
    @property
    def tags(self) -> list[str] | None: ...
    @property
    def faults(self) -> list[Fault]: ...
    @property
    def line_count(self) -> int: ...

def parse_svmlight(
    text: Buffer,
    first_line: int,
    intercept: bool,
    vocabulary: Vocabulary | None = None,
    scored: bool = False,
) -> Rows: ...
def scan_svmlight(
    text: Buffer, first_line: int, intercept: bool, scored: bool = False
) -> Scanned: ...
def scan_vw(text: Buffer, first_line: int, intercept: bool, scored: bool = False) -> Scanned: ...
def resolve_vw(scanned: Scanned, vocabulary: Vocabulary, admit: bool = True) -> Rows: ...
def parse_csv(
    text: Buffer,
    columns: int,
    places: NDArray[np.int32],
    width: int,
    delimiter: bytes,
    missing: Literal["stop", "zero"],
    first_line: int = 1,
) -> Csv: ...
def count_lines(text: Buffer) -> int: ...
def read_numbers(text: Buffer, fields: bool = False) -> NDArray[np.float64]: ...
