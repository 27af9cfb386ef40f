"""The preparation of raw rows in Python: the same as that of the files a model has learned from.

``noregret run --model`` saves how its data were read, and ``noregret.load`` makes a ``Preparing``
of it: dicts and data frames then become the features that the rows of a file would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, BadLabel, NoRegretError, Place, WrongUsage
from noregret.limits import INTERCEPT
from noregret.linear.data_frames import is_frame
from noregret.linear.engine.entry import SparseRow
from noregret.linear.inputs import Coded, as_array, as_example, is_named
from noregret.streams.block import Block, Sparse
from noregret.streams.columns import NUMBER, encoded
from noregret.streams.fourier_rows import LiftedReading
from noregret.streams.json_lines import flat
from noregret.streams.options import INDICATOR, Options
from noregret.streams.parsing.scaling import Scaler
from noregret.streams.parsing.vocabulary import Vocabulary
from noregret.streams.raw_values import arrow_table, is_gap, number_in, table_of
from noregret.streams.stream import Reading, State, Stream, example_of
from noregret.streams.table_reading import TableReading

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

L = TypeVar("L", bound="Learner")
# Messages about rows that are in no file name this instead.
ROWS = "rows"
# Sets of names whose order is remembered.
MAX_ORDERS = 64
# Options about the values of rows, in whatever they come.
OF_VALUES = (
    "missing",
    "text",
    "categories",
    "time",
    "dates",
    "drop",
    "keep",
    "interactions",
    "hash",
    "intercept",
    "scale",
    "positive",
    "negative",
)


class Prepared(dict[str, float]):
    """The features of a row that has been prepared."""


class RowsStream(Stream):
    """A stream of rows that a program gives, prepared like those of some files."""

    def __init__(self, options: Options, reading_class: type[Reading], format: str) -> None:
        self.paths, self.options, self.name = (ROWS,), options, format  # type: ignore[misc]
        self.reading_class = reading_class  # type: ignore[misc]


class Preparing:
    """Turn raw rows into the features that a learner knows.

    Parameters
    ----------
    arrays, kept
        The state of the pass through the files, as ``Reading.kept_with_model`` returns it.
    names
        The features of the learner.
    """

    def __init__(
        self, arrays: dict[str, NDArray[Any]], kept: dict[str, Any], names: list[str]
    ) -> None:
        from noregret.streams import format_called

        self.format, self.columns = kept["format"], kept["columns"]
        options = Options.of(**kept["options"])
        kind = format_called(self.format).reading_class
        self.tabular = issubclass(kind, TableReading) and self.format != "jsonl"
        stream = RowsStream(options, TableReading if self.tabular else kind, self.format)
        self.reading = stream.reading(learning=False)
        self.reading.set_state(arrays, kept)
        inner = self.reading.inner if isinstance(self.reading, LiftedReading) else self.reading
        self.inner: Any = inner
        if inner.named and options.hash is None and inner is self.reading:
            inner.vocabulary.positions(names, True)
        inner.take_at_once()
        self.names: list[str] = []
        self.labels = self.label_pair()
        self.lock = RLock()
        # The features of rows of numbers in their order, by the names in the rows.
        self.orders: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.constants = {INTERCEPT: 1.0} if options.intercept else {}
        self.is_plain = (
            self.format == "jsonl"
            and inner is self.reading
            and not (options.hash or options.interactions or inner.scaler)
        )

    def label_pair(self) -> tuple[Any, Any] | None:
        """Return the negative and the positive label, if the target has other values than ±1."""
        options = self.inner.options
        if options.positive is None:
            return None
        low = f"not {options.positive}" if options.negative is None else options.negative
        if self.kinds.get(options.target) != NUMBER or options.negative is None:
            return low, options.positive
        numbers = [float(label) for label in (low, options.positive)]
        low, high = (int(number) if number.is_integer() else number for number in numbers)
        return low, high

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of values in each column, by name."""
        found = getattr(self.inner, "kinds", None)
        return {} if found is None else dict(found)

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transformations of the data, as certificates list them."""
        return self.reading.transforms

    @property
    def options(self) -> Options:
        """The options that it was made with."""
        found: Options = self.reading.stream.options
        return found

    # Outcomes.

    def outcome(self, y: Any, round: int) -> Any:
        """Return an outcome as the learner takes it."""
        if self.labels is None:
            return y
        if type(y) is Coded:
            return float(y)
        if isinstance(y, np.generic):
            y = y.item()
        low, high = self.labels
        if y == high or str(y) == str(high):
            return 1
        if y == low or str(y) == str(low) or self.inner.options.negative is None:
            return -1
        raise BadLabel(f"the label is {y!r}: labels are {low!r} and {high!r}", round=round)

    def outcomes(self, y: Any, round: int) -> Any:
        """Return many outcomes as the learner takes them."""
        if self.labels is None:
            return y
        return [self.outcome(each, round + k) for k, each in enumerate(y)]

    # Rows.

    def row(self, x: Any, learning: bool, round: int) -> Any:
        """Return one raw row as the learner takes it: a dict of numbers, or numbered columns."""
        if type(x) is Prepared:
            return x
        x = as_example(x)
        names = self.orders.get(tuple(x)) if type(x) is dict else None
        if names is not None and are_numbers(x):
            values = map((self.constants | x).__getitem__, names)
            return Prepared(zip(names, values, strict=True))
        with self.lock:
            if not self.inner.named:
                return self.numbered(x, learning)
            if not isinstance(x, dict):
                return x  # which the learner refuses
            size, kinds = len(self.inner.vocabulary), getattr(self.inner, "kinds", None)
            days, options = dict(getattr(self.inner, "days", ())), self.inner.options
            self.begin(learning)
            try:
                block = self.scaled(self.block_of(x, round, learning), learning)
                found = self.example(block, 0)
                if learning:
                    self.remember(x, found)
                return found
            finally:
                if not learning and self.format == "jsonl":
                    self.inner.kinds, self.inner.days, self.inner.options = kinds, days, options
                if not learning and self.inner.options.hash is None:
                    self.inner.vocabulary.cut(size)
                    del self.names[self.reading.features :]

    def remember(self, x: dict[str, Any], found: Prepared) -> None:
        """Remember the order of the features of rows that only hold numbers, to save time."""
        if self.is_plain and len(self.orders) < MAX_ORDERS and found == self.constants | x:
            self.orders[tuple(x)] = tuple(found)

    def begin(self, learning: bool) -> None:
        """Take the next rows as learned or not."""
        many = getattr(self.inner, "many", None)
        if many is not None:
            many.start(learning)

    def block_of(self, x: dict[str, Any], round: int, learning: bool) -> Block:
        """Return one row as a block that is not scaled yet."""
        if self.tabular:
            place = lambda row: Place()  # noqa: E731
            table = table_of(x, self.inner.roles(ROWS), self.columns)
            block: Block = self.inner.block_of(table, place, {}, 0)
            raise_first(block, round)
            return block
        options = self.inner.options
        try:
            if self.format == "jsonl":
                features, _ = self.inner.features_of(flat(plain_values(x)))
                if learning:
                    self.inner.positions.note(features, self.inner.times_found())
            else:
                features = {name: number_in(value, name, {}) for name, value in x.items()}
                features |= {INTERCEPT: 1.0} if options.intercept else {}
        except BadExample as error:
            raise error.at(round=round) from None
        names = sorted(features)
        places = self.places_of(names, learning)
        values: dict[int, float] = {}
        for name, at in zip(names, places, strict=True):
            values[at] = values.get(at, 0.0) + features[name]  # names may share a slot of a hash
        order = sorted(values)
        rows = Sparse(
            np.array([0, len(order)]),
            np.array(order, dtype=np.int32),
            np.array([values[at] for at in order]),
        )
        return Block(rows, np.full(1, np.nan), lambda row: Place(), {})

    def places_of(self, names: list[str], learning: bool) -> list[int]:
        """Return the positions of features; those of a row that is only predicted do not stay."""
        if learning and self.format == "jsonl":
            found: list[int] = self.inner.places_of(names, True)
            return found
        return [int(at) for at in self.inner.vocabulary.positions(names, True)]

    def scaled(self, block: Block, learning: bool) -> Block:
        """Scale a block, and map it to Fourier features if there are any."""
        scaler = self.inner.scaler
        if scaler is not None and isinstance(block.X, Sparse):
            scaler.scale_sparse(*block.X, learning)
        elif scaler is not None:
            scaler.scale_dense(block.X, learning)
        if isinstance(self.reading, LiftedReading):
            frequencies = self.reading.frequencies
            block = self.reading.lifted(block)
            if not learning:  # those of features that do not stay
                self.reading.frequencies = frequencies
        return block

    def example(self, block: Block, row: int) -> Prepared:
        """Return a row of a block by the names of its features."""
        if len(self.names) < self.reading.features:
            self.names += self.reading.names(len(self.names), self.reading.features)
        return Prepared(example_of(block, row, self.names))

    def numbered(self, x: Any, learning: bool) -> Any:
        """Return a row of numbered columns with its intercept, scaled."""
        if isinstance(x, dict):
            return x  # which the learner refuses
        if isinstance(x, SparseRow):
            rows = Sparse(np.array([0, len(x.data)]), x.indices.copy(), x.data.copy())
            made = self.numbered_block(rows, learning)
            return SparseRow(made.indices, made.data, x.width + self.inner.options.intercept)
        return self.numbered_block(x[np.newaxis], learning)[0]

    def numbered_block(self, rows: Any, learning: bool) -> Any:
        """Return rows of numbered columns with their intercept, scaled."""
        if self.inner.options.intercept:
            if isinstance(rows, Sparse):
                from noregret.streams.file_formats.npz import with_intercept

                rows = with_intercept(rows)
            else:
                rows = np.insert(rows, 0, 1.0, axis=1)
        rows = rows if isinstance(rows, Sparse) else np.array(rows, dtype=np.float64)
        block = Block(rows, np.full(1, np.nan), lambda row: Place(), {})
        return self.scaled(block, learning).X

    def rows(self, X: Any, learning: bool, round: int) -> Any:
        """Return many raw rows as the learner takes them; dicts in a list are taken one by one."""
        if not self.inner.named:
            if is_named(X):
                return X
            with self.lock:
                return self.numbered_rows(X, learning)
        if not is_frame(X):
            return X
        if not self.tabular:
            import narwhals as nw

            return nw.from_native(X, eager_only=True).rows(named=True)
        with self.lock:
            size = len(self.inner.vocabulary)
            self.begin(learning)
            try:
                roles = self.inner.roles(ROWS)
                table = encoded(arrow_table(X, roles, self.columns), roles)
                block = self.inner.block_of(table, lambda row: Place(row=row + 1), {}, 0)
                raise_first(block, None)
                return self.as_rows(self.scaled(block, learning))
            finally:
                if not learning and self.inner.options.hash is None:
                    self.inner.vocabulary.cut(size)
                    del self.names[self.reading.features :]

    def as_rows(self, block: Block) -> Any:
        """Return a block as a table of named columns, or as dicts if its rows are sparse."""
        if isinstance(block.X, Sparse) or not len(block):
            return [self.example(block, row) for row in range(len(block))]
        import pyarrow as pa

        names = self.reading.names(0, block.X.shape[1])
        return pa.table([np.ascontiguousarray(column) for column in block.X.T], names)

    def numbered_rows(self, X: Any, learning: bool) -> Any:
        """Return many rows of numbered columns."""
        if not hasattr(X, "tocsr"):
            return self.numbered_block(as_array(X), learning)
        from scipy import sparse

        from noregret.base.sparse_rows import sparse_parts

        starts, indices, data, width = sparse_parts(X)
        made = self.numbered_block(Sparse(starts, indices, data.copy()), learning)
        if not isinstance(made, Sparse):
            return made
        shape = (len(starts) - 1, width + self.inner.options.intercept)
        return sparse.csr_array((made.data, made.indices, made.starts), shape=shape)

    # Files and copies.

    def kept(self, names: list[str]) -> State:
        """Return what a model file keeps, given the features of the learner."""
        arrays, numbers = self.reading.kept_with_model()
        numbers["columns"] = self.columns | numbers["columns"]
        inner = self.inner.vocabulary
        if self.inner.named and inner.bits is None and inner.names() != names:
            arrays |= {f"names.{name}": array for name, array in inner.get_state().items()}
        return arrays, numbers

    def renewed(self) -> Preparing | None:
        """Return the same for rows of which none has been seen; None if a file was prepared."""
        return begun(self.options) if self.options.target is None else None

    def copied(self, names: list[str]) -> Preparing:
        """Return an independent copy, given the features of the learner."""
        return Preparing(*self.kept(names), names)


def prepared(learner: L, **options: Any) -> L:
    """Let a fresh learner take raw rows as ``noregret run`` takes JSON lines; return the learner.

    Dicts and data frames may then hold missing values, dates, categories and free text. How they
    are prepared is saved with the model.

    Parameters
    ----------
    learner
        A learner that has not learned yet.
    **options
        Those of ``Options`` about values: ``missing`` (``indicator`` unless given), ``text``,
        ``categories``, ``time``, ``dates``, ``drop``, ``keep``, ``interactions``, ``hash``,
        ``intercept``, ``scale``, ``positive`` and ``negative``.

    Examples
    --------
    >>> import noregret
    >>> from noregret.streams import prepared
    >>> learner = prepared(noregret.Logistic(), text="remark", missing="stop")
    >>> learner.learn_one({"remark": "Warm, and not late", "size": 3}, True)
    >>> learner.features[:3]
    ['remark:and', 'remark:and not', 'remark:late']
    """
    if learner.rounds:
        raise WrongUsage("this learner has learned already: prepare rows from the first on")
    learner._entry.prepare = fresh(options)
    return learner


def fresh(given: dict[str, Any]) -> Preparing:
    """Return the preparation of rows of which none has been seen yet."""
    if odd := sorted(given.keys() - {*OF_VALUES}):
        what = f"{odd[0]} is not an option about the values of rows"
        raise WrongUsage(f"{what}: there are {', '.join(OF_VALUES)}")
    return begun(Options(**{"missing": INDICATOR} | given))


def like(options: Options) -> Preparing:
    """Return the preparation of new rows by the options about values that a file was read with."""
    return fresh({name: getattr(options, name) for name in OF_VALUES})


def begun(options: Options) -> Preparing:
    """Return the preparation of rows with some options, of which none has been seen yet."""
    scaler = None if options.scale == "none" else Scaler(options.scale)
    state = {} if scaler is None else scaler.get_state(0)
    arrays = {f"scale.{name}": array for name, array in state.items()}
    vocabulary = {} if options.hash is None else Vocabulary(options.hash).get_state()
    arrays |= {f"names.{name}": array for name, array in vocabulary.items()}
    kept = {"target": None, "transforms": options.transforms()}
    numbers: dict[str, Any] = {"mark": None, "width": 0, "columns": {"kinds": {}}, "options": kept}
    return Preparing(arrays, numbers | {"format": "jsonl"}, [])


def are_numbers(x: dict[str, Any]) -> bool:
    """Return whether a row only holds finite numbers of type float."""
    values = x.values()
    return {*map(type, values)} <= {float} and math.isfinite(sum(values))


def raise_first(block: Block, round: int | None) -> None:
    """Raise the error of the first row that cannot be used."""
    if block.faults:
        error: NoRegretError = block.faults[0].error
        raise error.at(round=round)


def plain_values(x: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the numbers of Python in place of those of NumPy, and None for gaps."""
    return {name: plain_value(value) for name, value in x.items()}


def plain_value(value: Any) -> Any:
    """Return a value with a type of Python, but for times, which keep their resolution."""
    if is_gap(value):
        return None
    is_number = isinstance(value, np.generic) and not isinstance(value, np.datetime64)
    return value.item() if is_number else value
