"""Rows that workers hold, for the best fixed predictor in hindsight over more than one machine.

The rows are cut into blocks of 65,536, each of which answers by itself. Sums over blocks are merged
over a binary tree that depends on the number of blocks only, so their bits do not depend on the
workers; nor do the steps of the solvers, and the interval that they prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.batch.intake import with_constant
from noregret.errors import NoRegretError
from noregret.hindsight import LeastSquares
from noregret.hindsight.blocks import Block, is_sparse, padded
from noregret.hindsight.proofs.deadline import take_time
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.rows import Rows
from noregret.hindsight.rows import Survey as Summary
from noregret.hindsight.sparse import compact
from noregret.limits import SMALLEST, UNIT
from noregret.proof.record.parts_digest import BLOCK_ROWS
from noregret.scale.fitting import stream_of
from noregret.scale.keepers import Keepers
from noregret.scale.pool import Pool
from noregret.scale.processes import Processes
from noregret.scale.survey import NumberedBlocks, Survey, block_ends, surveyed
from noregret.scale.tree import grown, reduced
from noregret.streams.block import Sparse

if TYPE_CHECKING:
    from noregret.streams.stream import Stream


class Question(NamedTuple):
    """A pass over rows: the method of ``Rows``, its arguments, and its numbers for these rows."""

    name: str
    arguments: tuple[Any, ...] = ()
    values: NDArray[Any] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012


class SpreadRows(Rows):
    """Rows held by workers, each of which reads its own; the functions of ``hindsight`` take them.

    Made by ``noregret.scale.rows``. Close it, or use it in a ``with`` statement.

    Parameters
    ----------
    survey
        The files.
    pool
        The workers.
    rows
        Rows per block.
    constant
        Whether rows begin with a constant.
    """

    def __init__(
        self, survey: Survey, pool: Pool, rows: int = BLOCK_ROWS, constant: bool = False
    ) -> None:
        super().__init__(features=survey.columns.features + constant)
        self.count, self.size, self.total = -(-survey.rows // rows), rows, survey.rows
        self.owned: Pool | None = None
        features = survey.columns.features
        self.names = survey.feature_names(features) or survey.columns.known
        workers = min(pool.workers, self.count)
        shares = [k * self.count // workers for k in range(workers + 1)]
        ends = block_ends(survey.rows, rows)
        self.shares = [survey.numbered(*some, ends) for some in pairwise(shares)]
        tasks = [(share, features, constant) for share in self.shares]
        self.keepers = Keepers(pool, read, tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        self.keepers.close()
        if self.owned is not None:
            self.owned.close()

    def add(self, X: Any, y: Any) -> Rows:
        """Refuse more rows."""
        raise ValueError("blocks cannot be added to rows that workers hold")

    # Questions to all workers.

    def ask(
        self,
        act: Callable[[Any, Any], Any],
        name: str,
        *arguments: Any,
        values: NDArray[Any] | None = None,
        **options: Any,
    ) -> list[Any]:
        """Return the answers of all workers, in order of the rows."""
        take_time()
        questions = {}
        for k, share in enumerate(self.shares):
            last = share.number + len(share.sizes)
            own = slice(share.number * self.size, last * self.size)
            part = None if values is None else values[own]
            questions[k] = Question(name, arguments, part, options)
        return list(self.keepers.ask(act, questions).values())

    def sum(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Return a sum over all rows."""
        nodes: dict[tuple[int, int], Any] = {}
        for found in self.ask(summed, name, *arguments, **named):
            nodes |= found
        return reduced(lambda key: nodes.pop(key, None), self.count, JOINS.get(name, np.add))

    # The passes of ``Rows``.

    def blocks(self) -> Iterator[tuple[Block, Floats]]:
        """Yield the blocks with their outcomes, which workers send one after the other."""
        for k, share in enumerate(self.shares):
            for number in range(len(share.sizes)):
                yield from self.keepers.ask(sent, {k: number})[k]

    @cached_property
    def survey(self) -> Summary:
        """Summary of the rows, computed once."""
        found: list[Summary] = [each for part in self.ask(answers, "survey") for each in part]
        return Summary(
            np.concatenate([each.outcomes for each in found]),
            self.least_features,
            max(each.longest for each in found),
            sum(each.numbers for each in found),
            max(each.filled for each in found),
            max(each.depth for each in found) + self.count.bit_length() + 1,
        )

    def scores(self, weights: Floats, *, absolute: bool = False) -> Floats:
        """Return X w, or |X| |w|, which bounds the rounding error of X w."""
        found = self.ask(answers, "scores", weights, absolute=absolute)
        return np.concatenate([each for part in found for each in part])

    def combine(self, shares: Floats, *, absolute: bool = False) -> Floats:
        """Return Xᵀ a, or |X|ᵀ |a|, which bounds the rounding error of Xᵀ a."""
        return np.asarray(self.sum("combine", values=shares, absolute=absolute))

    def combined(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return Xᵀ a from compensated sums, and bounds on the errors."""
        sums, off = self.sum("combined", values=shares)
        return sums, off

    def bend(self, weights: Floats, v: Floats) -> Floats:
        """Return Σ d_t x_t (x_t·v), in one pass."""
        return np.asarray(self.sum("bend", v, values=weights))

    def gram(self, weights: Floats, before_each: Callable[[], None] = lambda: None) -> Floats:
        """Return Σ d_t x_t x_tᵀ for weights d_t ≥ 0; rows of weight zero are skipped."""
        before_each()
        return np.asarray(self.sum("gram", values=weights))

    def column_squares(self, weights: Floats) -> Floats:
        """Return the diagonal of the weighted Gram matrix."""
        return np.asarray(self.sum("column_squares", values=weights))

    def square_sums(self) -> LeastSquares:
        """Return the sums that determine the square loss."""
        found: LeastSquares = self.sum("square_sums")
        return found

    def pick(self, chosen: NDArray[Any]) -> Block:
        """Return the rows where ``chosen`` is not zero as one block."""
        found = [each for part in self.ask(answers, "pick", values=chosen) for each in part]
        parts = [padded(block, self.least_features) for block in found]
        if any(map(is_sparse, parts)):
            from scipy import sparse

            return sparse.csr_array(sparse.vstack(parts, format="csr"))
        return np.concatenate(parts)


def rows(
    data: str | Path | Sequence[str | Path] | Stream,
    target: str | None = None,
    *,
    pool: Pool | None = None,
    **options: Any,
) -> SpreadRows:
    r"""Return the rows of files for ``noregret.hindsight``, held in memory by several workers.

    Parameters
    ----------
    data
        Files, or a stream of ``noregret.streams``. Workers read their own parts.
    target
        The column that holds the outcomes.
    pool
        The workers; by default as many processes as there are processors.
    **options
        Reading options: see ``noregret.streams.Options``. Rows must not depend on earlier ones.

    Notes
    -----
    Answers are the same to the bit for any number of workers, if their processors are of one kind.
    The usual time limit of a search, two minutes, does not apply; ``limits=`` can set another. A
    pass sends workers the weights, or one number per row, and gets one number per row, or one sum
    per worker. ``names`` are the features, in the order of the weights.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import hindsight, scale
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,sold\n1,0\n1,1\n1,5\n")
    >>> with scale.Processes(1) as pool, scale.rows(file, "sold", pool=pool) as rows:
    ...     answer = hindsight.best_in_ball(rows, "absolute", radius=0.5)
    >>> round(answer.loss, 5), answer.relative_gap < 1e-6
    (5.5, True)
    """
    stream, own = stream_of(data, target, options), None
    if pool is None:
        pool = own = Processes()
    try:
        survey = surveyed(stream, pool)
        if not survey.rows:
            raise NoRegretError("there are no examples with an outcome")
        made = SpreadRows(survey, pool)
    except BaseException:
        if own is not None:
            own.close()
        raise
    made.owned = own
    return made


# In the workers.


def read(task: tuple[NumberedBlocks, int, bool]) -> list[tuple[int, Rows]]:
    """Return the blocks of a worker, with their numbers.

    Given are also how many features there are, and whether a constant comes before them.
    """
    (share, features, constant), found = task, []
    for number, block, _ in share:
        X: Any = block.X
        if isinstance(X, Sparse):
            from scipy import sparse

            X = sparse.csr_array((X.data, X.indices, X.starts), shape=(len(block), features))
        X = with_constant(X) if constant else X
        found.append((number, compact(Rows(X, block.y, features=features + constant))))
    return found


def each_answer(kept: list[tuple[int, Rows]], question: Question) -> Iterator[tuple[int, Any]]:
    """Yield the answer of each block, with its number."""
    start = 0
    for number, rows in kept:
        stop = start + rows.shape[0]
        given = question.arguments
        if question.values is not None:
            given = (question.values[start:stop], *given)
        if question.name == "square_sums":
            yield number, square_sums(rows)
        else:
            found = getattr(rows, question.name)
            yield number, found(*given, **question.options) if callable(found) else found
        start = stop


def answers(kept: list[tuple[int, Rows]], question: Question) -> list[Any]:
    """Return the answers of all blocks."""
    return [answer for _, answer in each_answer(kept, question)]


def summed(kept: list[tuple[int, Rows]], question: Question) -> dict[tuple[int, int], Any]:
    """Return the sums over blocks, merged as far as the tree allows."""
    return grown(each_answer(kept, question), JOINS.get(question.name, np.add))


def sent(kept: list[tuple[int, Rows]], number: int) -> list[tuple[Block, Floats]]:
    """Return one of the blocks."""
    return list(kept[number][1].blocks())


def square_sums(rows: Rows) -> LeastSquares:
    """Return the sums that determine the square loss on a block."""
    sums = LeastSquares(rows.shape[1])
    for X, y in rows.blocks():
        sums.add(X, y)
    return sums


def with_errors(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Add sums and the bounds on their errors, with the rounding of both additions."""
    sums = one[0] + other[0]
    off = (one[1] + other[1] + UNIT * np.abs(sums) + SMALLEST) * (1 + 8 * UNIT)
    return sums, off


JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "combined": with_errors,
    "square_sums": LeastSquares.merge,
}
