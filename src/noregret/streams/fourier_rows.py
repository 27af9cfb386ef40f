"""A pass through a stream that maps the scaled rows to random Fourier features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from noregret.limits import INTERCEPT, MAX_VALUE
from noregret.linear.engine.fourier_features import lift_dense, lift_sparse
from noregret.linear.random_features import Fourier
from noregret.streams.block import Block, Floats, Sparse, until, without
from noregret.streams.columns_to_rows import Faults, beyond
from noregret.streams.options import Options
from noregret.streams.parsing.vocabulary import Vocabulary
from noregret.streams.stream import Reading, State, Stream


class LiftedReading(Reading):
    """A pass that maps the rows of another pass; the intercept is kept as it is."""

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        self.inner = stream.reading_class(stream, learning, None)
        self.stream, self.learning = stream, learning
        self.paths, self.mark, self.width = stream.paths, None, 0
        self.scaler, self.wanted = None, lambda: True
        self.fourier = fourier_of(stream.options)
        self.frequencies = np.zeros((0, self.fourier.count // 2))
        self.vocabulary = Vocabulary()
        added = [INTERCEPT] if self.options.intercept else []
        self.vocabulary.positions(sorted([*self.fourier.names, *added]), True)
        if state is not None:
            self.set_state(*state)

    def __iter__(self) -> Iterator[Block]:
        self.inner.wanted = self.still_wanted
        stops = self.options.on_error == "stop"
        for block in self.inner:
            lifted = self.lifted(block)
            if stops and lifted.faults:
                lifted = until(lifted, lifted.faults[0].row, lifted.faults[:1])
            self.mark = lifted.mark
            yield lifted
            if stops and lifted.faults:
                return

    def close(self) -> None:
        """End the threads that read ahead."""
        self.inner.close()

    def lifted(self, block: Block) -> Block:
        """Return a block with Fourier features, without rows that cannot be mapped."""
        self.draw()
        block = usable(block, self.inner)
        intercept = int(self.options.intercept)
        out = np.ones((len(block), self.fourier.count + intercept))
        if isinstance(block.X, Sparse):
            lift_sparse(*block.X, self.frequencies, out)
        else:
            lift_dense(np.ascontiguousarray(block.X), self.frequencies, out)
        return replace(block, X=out)

    def draw(self) -> None:
        """Draw frequencies for all features seen so far, except for the intercept."""
        known, names = len(self.frequencies), self.inner.feature_names(self.inner.features)
        if len(names) > known:
            drawn = self.fourier.table(names[known:])
            if self.options.intercept and INTERCEPT in names[known:]:
                drawn[names[known:].index(INTERCEPT)] = 0.0
            self.frequencies = np.concatenate([self.frequencies, drawn])

    @property
    def options(self) -> Options:  # type: ignore[override]
        """The options, with columns of free text that were detected so far."""
        return self.inner.options

    def found(self) -> dict[str, Any]:
        """Return the options that were detected so far, by name."""
        return self.inner.found()

    def keep_seals(self) -> None:
        """Keep digests of all data read."""
        self.inner.keep_seals()

    def labelled(self, block: Block) -> Block:
        """Return a block whose outcomes are what learners take."""
        return self.inner.labelled(block)

    def check_target(self) -> None:
        """Raise an error if no row so far has a field for the outcome."""
        self.inner.check_target()

    def check_group(self) -> None:
        """Raise an error for a group that does not occur."""
        self.inner.check_group()

    def take_at_once(self) -> None:
        """Take rows as they arrive."""
        self.inner.take_at_once()

    def take_classes(self) -> None:
        """Take outcomes as classes from now on, any number of them."""
        self.inner.take_classes()

    @property
    def undecided(self) -> bool:  # type: ignore[override]
        """True if the first block will tell what outcomes are."""
        return self.inner.undecided

    def wait(self) -> None:
        """Leave open what outcomes are until ``decide``."""
        self.inner.undecided = True

    def decide(self, stream: Stream, first: list[Block]) -> list[Block]:
        """Continue with the options of a stream of the same files, after its first blocks."""
        self.stream = stream
        return self.inner.decide(stream, first)

    # The state is that of the inner pass, whose feature names differ from those of the learner.

    def state(self) -> State:
        """Return the arrays and JSON values that resuming and predicting need."""
        return self.inner.state()

    def kept_with_model(self) -> State:
        """Return the state that predicting needs."""
        arrays, numbers = self.inner.kept_with_model()
        names = {k: v for k, v in self.inner.state()[0].items() if k.startswith("names.")}
        return names | arrays, numbers

    def set_state(self, arrays: dict[str, Floats], numbers: dict[str, object]) -> None:
        """Restore a state; raise ValueError if it does not fit."""
        self.inner.set_state(arrays, numbers)
        self.mark = self.inner.mark


def fourier_of(options: Options) -> Fourier:
    """Return the map described by the options."""
    assert options.fourier is not None
    return Fourier.of(options.fourier)


def usable(block: Block, reading: Reading) -> Block:
    """Return a block in which rows with values that are not finite are faults."""
    X = block.X
    good = np.abs(X.data if isinstance(X, Sparse) else X) < MAX_VALUE
    if good.all():
        return block
    if isinstance(X, Sparse):
        ends = X.starts[1:]
        at = np.flatnonzero(~good[: ends[-1]])
        at = at[at >= X.starts[0]]
        found = zip(np.searchsorted(ends, at, "right"), X.indices[at], X.data[at], strict=True)
    else:
        rows, columns = np.nonzero(~good)
        found = zip(rows, columns, X[rows, columns], strict=True)
    told: Faults = {}
    for row, column, value in found:
        name = reading.feature_name(int(column))
        said = beyond(f"feature {name!r} is {value:g}: every value", name)
        told.setdefault(int(row), said)
    return without(block, told) if told else block
