from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

from noregret.streams.parsing.parsed_rows import Csv as Csv
from noregret.streams.parsing.parsed_rows import Fault as Fault
from noregret.streams.parsing.parsed_rows import Rows as Rows
from noregret.streams.parsing.vocabulary import KnownNames, Vocabulary

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
    text: Buffer,
    first_line: int,
    intercept: bool,
    scored: bool = False,
    hashed: bool = False,
    known: KnownNames | None = None,
) -> Scanned: ...
def scan_vw(
    text: Buffer,
    first_line: int,
    intercept: bool,
    scored: bool = False,
    hashed: bool = False,
    known: KnownNames | None = None,
) -> Scanned: ...
def resolve_vw(
    scanned: Scanned, vocabulary: Vocabulary, admit: bool = True, learning: bool = False
) -> Rows: ...
def parse_csv(
    text: Buffer,
    columns: int,
    places: NDArray[np.int32],
    width: int,
    delimiter: bytes,
    missing: Literal["stop", "zero", "asleep"],
    first_line: int = 1,
) -> Csv: ...
def count_lines(text: Buffer) -> int: ...
def read_numbers(text: Buffer, fields: bool = False) -> NDArray[np.float64]: ...
