"""The base classes of all formats: a stream, and one pass through it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.positions import Positions
from noregret.errors import Use, WrongUsage, tell
from noregret.limits import INTERCEPT
from noregret.streams.block import Block, Floats, Sparse, until
from noregret.streams.class_labels import ClassNames, as_two, bases_refused, text_refused
from noregret.streams.open_file import Opened
from noregret.streams.options import FORM, Options
from noregret.streams.parsing.scaling import Scaler
from noregret.streams.parsing.vocabulary import Vocabulary
from noregret.streams.prefetch import in_order
from noregret.streams.seals import Seals
from noregret.streams.source import Part, Paths, Piece, Source, as_paths, suffix_of, total_size

NOT_STANDARD = (Use("scale", "max"), Use("scale", "unit", "{}"))
State = tuple[dict[str, NDArray[Any]], dict[str, Any]]


class StartAgain(Exception):
    """Raised when the rest of the stream must be parsed differently, starting at the mark."""


class Stream:
    """Examples from files: iterate over pairs (x, y), or over ``blocks``, from the start each time.

    Parameters
    ----------
    paths
        One or more files, read in order; globs; ``-`` for standard input.
    options
        How to read them.
    """

    name: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]] = ()
    reading_class: ClassVar[type[Reading]]
    # Options that do not apply to this format.
    meaningless: ClassVar[tuple[str, ...]] = ()

    def __init__(self, paths: Paths, options: Options) -> None:
        for option in self.meaningless:
            if option in FORM and not options.sniff:  # of the file that was certified
                continue
            if getattr(options, option) != getattr(Options(), option):
                cure = Use(option, text="leave {} out")
                raise WrongUsage(f"{option} does not apply to {self.name} files", cure)
        self.paths, self.options = self.paths_of(paths), options

    @classmethod
    def paths_of(cls, given: Paths) -> tuple[str, ...]:
        """Return the files, with globs expanded."""
        return as_paths(given)

    def open(self, path: str) -> Opened:
        """Open one of the files."""
        return Opened(path, follow=self.options.follow and path == self.paths[-1])

    def with_fourier(self, fourier: str) -> Stream:
        """Return a stream of the same files whose rows are random Fourier features."""
        return type(self)(self.paths, replace(self.options, fourier=fourier))

    @property
    def target(self) -> str | None:
        """The name of the column that holds the outcomes, if any."""
        return self.options.target

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transformations of the data, as certificates list them."""
        return self.options.transforms()

    @property
    def size(self) -> int | None:
        """The number of bytes to read, if known."""
        return total_size(self.paths)

    def reading(self, state: State | None = None, learning: bool = True) -> Reading:
        """Start a pass, from the beginning or from the state of another pass.

        Rows without an outcome add no features, and do not change the scaling of later ones; in a
        pass that is not for ``learning``, no row changes it.
        """
        if self.options.fourier is not None:
            from noregret.streams.fourier_rows import LiftedReading

            return LiftedReading(self, learning, state)
        return self.reading_class(self, learning, state)

    def blocks(self) -> Iterator[Block]:
        """Yield the examples in blocks."""
        return iter(self.reading())

    def __iter__(self) -> Iterator[tuple[dict[str, float], float]]:
        reading = self.reading()
        for block in reading:
            names = reading.feature_names(reading.features)
            for row in range(len(block)):
                yield example_of(block, row, names), float(block.y[row])
            if block.faults and self.options.on_error == "stop":
                raise block.faults[0].error

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self.paths)}>"


def reader_of(*kinds: type[Stream]) -> Callable[..., Stream]:
    """Return the function that reads the files of a format, or of formats that are one family."""
    first = kinds[0]

    def read(path: Paths, target: str | None = None, **options: Any) -> Stream:
        paths = first.paths_of(path)
        suffixes = {suffix_of(name) for name in paths}
        kind = next((each for each in kinds[1:] if suffixes <= {*each.extensions}), first)
        return kind(paths, Options(target, **options))

    read.__name__ = read.__qualname__ = f"read_{first.name}"
    read.__module__ = "noregret.streams"
    read.__doc__ = f"""Read {" or ".join(kind.name for kind in kinds)} files as a stream.

    Parameters
    ----------
    path
        One file or several, or a glob.
    target
        The column or field that holds the outcomes; only for formats with names.
    **options
        See ``noregret.streams.Options``.
    """
    return read


class Reading:
    """One pass through a stream: the columns and features seen so far, and the current position."""

    # True if features have names; otherwise they are numbered columns.
    named: ClassVar[bool] = True
    # True if the number of columns is known from the start.
    fixed: ClassVar[bool] = False
    # True if features can be centred, which sparse rows do not allow.
    centred: ClassVar[bool] = True
    # How many pieces a block of a plain file makes; the first, which tells what there is, is whole.
    cuts: ClassVar[int] = 1
    # The blocks that are read ahead in the current pass.
    prefetched: Generator[Any, None, None] | None = None

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        self.stream, self.options, self.learning = stream, stream.options, learning
        self.paths = stream.paths
        if self.options.scale == "standard" and not self.centred:
            raise WrongUsage(
                f"{stream.name} data are sparse, and standardising would make them dense",
                NOT_STANDARD,
            )
        scale = self.options.scale
        self.scaler = None if scale == "none" else Scaler(scale)
        self.vocabulary = Vocabulary(self.options.hash)
        self.mark: dict[str, Any] | None = None
        self.seals: Seals | None = None  # of all data before the mark, if there are checkpoints
        self.unchecked = False  # whether the seals come from another process
        self.width = 0  # the number of columns, if they have no names
        self.wanted: Callable[[], bool] = lambda: True
        self.classes: ClassNames | None = None  # of the outcomes, if they are several classes
        self.undecided = False  # whether the first block will tell what outcomes are
        self.ahead = True  # whether to read on while the caller works
        self.at_once = False  # whether nothing is detected that needs more rows than one
        self.part: Part | None = None  # the only part to read
        self.class_loss = ""  # the option that chooses a loss of classes, if the learner has none
        self.group_fields: tuple[str, ...] = ()  # fields that name a learner for each row
        if state is not None:
            self.set_state(*state)

    def keep_seals(self) -> None:
        """Keep digests of all data read, so that another process can resume from here."""
        if self.seals is None:
            self.seals = Seals()

    # Implemented by each format.

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Any]]:
        """Yield jobs that read and parse, and that may run in any thread."""
        raise NotImplementedError

    def settle(self, raw: Any) -> Block:
        """Make a block from the result of a job; called in order."""
        raise NotImplementedError

    def columns_state(self) -> dict[str, Any]:
        """Return what is known about the columns, as JSON values."""
        return {}

    def set_columns_state(self, state: dict[str, Any]) -> None:
        """Restore the result of ``columns_state``."""

    def found(self) -> dict[str, Any]:
        """Return the options that were detected so far, by name."""
        return {}

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transformations of the data, as certificates list them: asked for, and detected."""
        return replace(self.options, **self.found()).transforms()

    # The pass.

    def __iter__(self) -> Iterator[Block]:
        while self.wanted():
            try:
                jobs = self.jobs(self.mark)
                found = in_order(jobs, self.still_wanted) if self.ahead else (job() for job in jobs)
                self.prefetched = found
                with closing(found):
                    for raw in found:
                        block = self.settle(raw)
                        if self.options.on_error == "stop" and block.faults:
                            block = until(block, block.faults[0].row, block.faults[:1])
                        self.scale(block)
                        self.complete(block)
                        if not self.undecided:
                            block = self.labelled(block)
                        self.mark = block.mark
                        if len(block) or block.faults:
                            yield block
                        if self.options.on_error == "stop" and block.faults:
                            return
            except StartAgain:
                continue
            return

    def close(self) -> None:
        """End the threads that read ahead: a kept traceback would keep a pass that failed alive."""
        if self.prefetched is not None:
            self.prefetched.close()

    def read_part(self, part: Part) -> None:
        """Read only one part, of which the first lines of the stream told the columns."""
        self.part = part
        self.mark = self.part_mark(part)

    def part_mark(self, part: Part) -> dict[str, Any]:
        """Return the mark at the start of a part; its lines count from there."""
        return {"file": part.file, "offset": part.start, "line": 0}

    def still_wanted(self) -> bool:
        """Return whether more blocks are wanted."""
        return self.wanted()

    def scale(self, block: Block) -> None:
        """Scale the rows, in place."""
        if self.scaler is None or not len(block):
            return
        outcomes = block.y if self.learning else None
        if isinstance(block.X, Sparse):
            self.scaler.scale_sparse(*block.X, self.learning, outcomes)
        else:
            self.scaler.scale_dense(block.X, self.learning, outcomes)

    def complete(self, block: Block) -> None:
        """Fill in the values that depend on earlier rows, in place."""

    # Outcomes that are classes.

    def labelled(self, block: Block) -> Block:
        """Return a block whose outcomes are what learners take: numbers, ±1, or classes."""
        faults = len(block.faults)
        if not self.learning:
            return block
        if block.bases is not None and (self.options.positive or self.classes) is not None:
            raise bases_refused(block)
        if self.options.positive is not None:
            block = as_two(block, self.options.positive, self.options.negative)
        elif self.classes is not None:
            block = self.classes.numbered(block)
        elif block.values is not None and len(block):
            raise text_refused(block, self.options.target, self.class_loss)
        if self.options.on_error == "stop" and len(block.faults) > faults:
            block = until(block, block.faults[0].row, block.faults[:1])
        return block

    def check_target(self) -> None:
        """Raise an error if no row so far has a field for the outcome."""

    def check_group(self) -> None:
        """Raise an error for a group that does not occur."""

    def take_at_once(self) -> None:
        """Take rows as they arrive: nothing is detected that needs more than the first."""
        self.at_once = True

    def take_classes(self) -> None:
        """Take outcomes as classes from now on, any number of them."""
        if self.options.positive is not None:
            cure = Use("positive", text="leave {} out")
            raise WrongUsage("positive is for two classes, and these may be several", cure)
        self.classes = self.classes or ClassNames()

    def wait(self) -> None:
        """Leave open what outcomes are until ``decide``."""
        self.undecided = True

    def decide(self, stream: Stream, first: list[Block]) -> list[Block]:
        """Continue with the options of a stream of the same files, after its first blocks."""
        self.stream, self.options, self.undecided = stream, stream.options, False
        return [self.labelled(block) for block in first]

    # Names.

    @property
    def features(self) -> int:
        """The number of features seen so far."""
        return len(self.vocabulary) if self.named else self.width

    def names(self, start: int, stop: int) -> list[str]:
        """Return the names of some features."""
        return self.vocabulary.names(start, stop)

    @property
    def name_source(self) -> Callable[[int, int], list[str]] | None:
        """A function that returns the names of features; None if they are numbered columns."""
        return self.names if self.named else None

    def feature_name(self, position: int) -> str:
        """Return the name of a feature, as users know it."""
        if self.named:
            return self.names(position, position + 1)[0]
        position -= int(self.options.intercept)
        return INTERCEPT if position < 0 else str(position)

    def feature_names(self, count: int) -> Sequence[str]:
        """Return the names of the first features, as users know them."""
        if self.named:
            return self.names(0, count)
        return Positions(count, [INTERCEPT] if self.options.intercept else ())

    def source(
        self, delimiter: Callable[[bytes], bytes] | None = None, careful: bool = False
    ) -> Source:
        """Return the text to read, after checking that the text before the mark is unchanged."""
        source = Source(
            self.paths, delimiter, careful, self.seals, self.stream.open, self.part, self.cuts
        )
        if self.unchecked and self.mark is not None:
            source.check(self.mark)
            self.unchecked = False
        return source

    def mark_after(self, piece: Piece, lines: int) -> dict[str, Any]:
        """Seal a piece of this many lines, and return the mark after it."""
        before = self.lines_before(piece)
        if piece.wide and not piece.start:
            tell("read as UTF-16 text, by its byte order mark", file=piece.path)
        if self.seals is not None:
            self.seals.add(piece.file, piece.ranges or [], before + 1, before + lines)
        return {"file": piece.file, "offset": piece.stop, "line": before + lines}

    def lines_before(self, piece: Piece) -> int:
        """Return the number of lines before a piece in its file."""
        if self.mark is not None and self.mark["file"] == piece.file:
            return int(self.mark["line"])
        return 0

    def read_so_far(self, file: int, read: int) -> int:
        """Return the bytes of input read so far, given those of the current file."""
        return read + (total_size(self.paths[:file]) or 0)

    def admit_intercept(self) -> None:
        """Assign the first position to the intercept."""
        if self.options.intercept and not len(self.vocabulary):
            self.vocabulary.positions([INTERCEPT], True)

    # The state: everything that later rows depend on.

    def state(self) -> State:
        """Return the arrays and JSON values that resuming and predicting need."""
        size = self.features
        arrays: dict[str, NDArray[Any]] = {}
        numbers: dict[str, Any] = {
            "mark": self.mark,
            "width": self.width,
            "columns": self.columns_state(),
        }
        if self.classes is not None:
            numbers["classes"] = self.classes.names
        if self.named:
            arrays |= {f"names.{k}": v for k, v in self.vocabulary.get_state().items()}
        if self.scaler is not None:
            arrays |= {f"scale.{k}": v for k, v in self.scaler.get_state(size).items()}
        if self.seals is not None:
            arrays |= {f"seals.{k}": v for k, v in self.seals.get_state().items()}
        return arrays, numbers

    def kept_with_model(self) -> State:
        """Return the state that predicting needs; names that are not hashed are in the model."""
        arrays, numbers = self.state()
        apart = ("seals.",) if self.options.hash is not None else ("seals.", "names.")
        arrays = {name: array for name, array in arrays.items() if not name.startswith(apart)}
        numbers["mark"] = None
        numbers.pop("classes", None)  # the learner has those it met
        numbers["options"] = {
            "target": self.options.target,
            "transforms": self.stream.options.transforms(),
        }
        numbers["format"] = self.stream.name
        return arrays, numbers

    def set_state(self, arrays: dict[str, NDArray[Any]], numbers: dict[str, Any]) -> None:
        """Restore a state; raise ValueError if it does not fit."""
        parts: dict[str, dict[str, NDArray[Any]]] = {"names": {}, "scale": {}, "seals": {}}
        for key, array in arrays.items():
            kind, _, name = key.partition(".")
            if kind not in parts:
                raise ValueError(f"unknown array {key!r}")
            parts[kind][name] = np.array(array)
        if self.named and parts["names"]:
            self.vocabulary = Vocabulary.from_state(parts["names"], self.options.hash)
        if self.scaler is not None:
            self.scaler.set_state(parts["scale"])
        self.mark, self.width = numbers["mark"], int(numbers["width"])
        if self.mark is not None and not 0 <= self.mark["file"] <= len(self.paths):
            raise ValueError(f"there is no file {self.mark['file']} of {len(self.paths)}")
        if self.mark is not None:
            self.keep_seals()
            assert self.seals is not None
            self.seals.set_state(parts["seals"])
            self.unchecked = True
        self.set_columns_state(numbers["columns"])
        if numbers.get("classes") is not None:
            self.classes = ClassNames(numbers["classes"])


def example_of(block: Block, row: int, names: Sequence[str]) -> dict[str, float]:
    """Return one row as a dict."""
    if not isinstance(block.X, Sparse):
        return dict(zip(names, block.X[row].tolist(), strict=True))
    part = slice(block.X.starts[row], block.X.starts[row + 1])
    values: Floats = block.X.data[part]
    return {
        names[i]: v for i, v in zip(block.X.indices[part].tolist(), values.tolist(), strict=True)
    }
