"""One learner per group of rows, in one pass: ``noregret run --group COLUMN``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, NoRegretError
from noregret.linear import learn_many
from noregret.linear.engine import block_rows
from noregret.linear.groups import Groups
from noregret.linear.keyed_rows import sorted_by_key
from noregret.linear.learner import is_of_classes
from noregret.proof.game.play_blocks import Late, Played, best_of, codes_of
from noregret.streams.block import Block, Fault, Sparse, until, without
from noregret.streams.coded_tags import CodedTags
from noregret.streams.stream import example_of

if TYPE_CHECKING:
    from noregret.linear.class_learner import ClassLearner
    from noregret.linear.learner import Learner
    from noregret.linear.pooled import Pooled
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]
# Seconds that a part of a block is to take, as signals wait for it, and the fewest rows of one.
SECONDS, FEWEST = 0.25, 256
# Keys whose text is remembered.
MAX_KNOWN = 1_000_000


class GroupKeys:
    """The groups of rows, from the values that are passed on with them.

    Parameters
    ----------
    columns
        The columns that name the group of each row; the first of those that are passed on.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.forget()
        self.era = 0  # changes when groups get other numbers
        self.forgotten = 0  # numbers given before

    def forget(self) -> None:
        """Start numbers from 0."""
        self.names: list[Any] = []  # the groups by their numbers
        self.numbers: dict[Any, int] = {}  # and the other way round
        self.tags: dict[str, int] = {}  # the numbers by tags; −1 for no name
        self.texts: Any = None  # the numbers of tags, and the group's number of each
        self.of_texts: NDArray[np.int64] = np.zeros(0, np.int64)

    def of(self, block: Block) -> tuple[NDArray[np.int64], Block]:
        """Return the number of each row's group, and a block in which rows without are faults."""
        if max(len(self.names), len(self.tags)) > MAX_KNOWN:
            self.forgotten += len(self.names)
            self.forget()
            self.era += 1
        tags = block.tags or []
        if isinstance(tags, CodedTags):
            codes = self.of_coded(tags)
        else:
            for tag in set(tags).difference(self.tags):
                self.tags[tag] = self.number(json.loads(tag))
            codes = np.array([self.tags[tag] for tag in tags], dtype=np.int64)
        if not len(codes) or codes.min() >= 0:
            return codes, block
        bad = {row: self.nameless(tags[row]) for row in np.flatnonzero(codes < 0).tolist()}
        return codes[codes >= 0], without(block, bad)

    def of_coded(self, tags: CodedTags) -> NDArray[np.int64]:
        """Return the number of the group of each tag, −1 for none."""
        if self.texts is not tags.texts:
            self.texts, self.of_texts = tags.texts, np.zeros(0, np.int64)
        known = len(self.of_texts)
        if tags.texts.count > known:
            more = self.number_new(tags.texts.single_cells(known))
            if more is None:
                cells = tags.texts.all_cells(known)
                more = np.array(list(map(self.number, cells)), dtype=np.int64)
            self.of_texts = np.concatenate([self.of_texts, more])
        return self.of_texts[tags.codes]

    def number_new(self, texts: list[str] | None) -> NDArray[np.int64] | None:
        """Give numbers to texts, or return None unless all are new and names of groups."""
        if texts is None or "" in texts or "\N{REPLACEMENT CHARACTER}" in "".join(texts):
            return None
        if not self.numbers.keys().isdisjoint(texts):
            return None
        numbers = range(len(self.names), len(self.names) + len(texts))
        self.numbers.update(zip(texts, numbers, strict=True))
        self.names += texts
        return np.array(numbers, dtype=np.int64)

    def number(self, values: list[Any]) -> int:
        """Return the number of the group that some values name, −1 for none."""
        key: Any = values[0]
        if len(self.columns) > 1:
            key = tuple(values[: len(self.columns)])
            if not all(map(is_name, key)):
                return -1
        elif not is_name(key):
            return -1
        return self.code(key)

    def code(self, key: Any) -> int:
        """Return the number of a group by its name."""
        number = self.numbers.setdefault(key, len(self.names))
        if number == len(self.names):
            self.names.append(key)
        return number

    def nameless(self, tag: str) -> BadExample:
        """Return the error of a row whose group has no name."""
        parts = json.loads(tag)
        column = next(
            name for name, part in zip(self.columns, parts, strict=False) if not is_name(part)
        )
        what = f"column {column!r} is empty, no name or not UTF-8 text: every row needs its group"
        return BadExample(what, feature=column)


class Grouping:
    """The learners of all groups, and what they came to together.

    Parameters
    ----------
    learner
        The learner that every group starts with, or the learners of all groups.
    columns
        The columns that name the group of each row; the first of those that are passed on.
    """

    def __init__(self, learner: Learner | Groups, columns: Sequence[str]) -> None:
        self.groups = learner if isinstance(learner, Groups) else Groups(learner)
        self.keys = GroupKeys(columns)
        self.at_once = FEWEST
        self.slots: NDArray[np.int64] = np.zeros(0, np.int64)  # in the pool, by groups' numbers
        self.slots_of: Any = None  # what these are true for
        self.rounds = self.mistakes = 0
        self.loss = 0.0
        # Called before the observer with each block, the groups of its rows, and which were kept.
        self.record: Callable[[Reading, Block, NDArray[np.int64], NDArray[np.bool_]], None] | None
        self.record = None

    def play(
        self,
        reading: Reading,
        blocks: Iterable[Block],
        observe: Callable[[Block, Played], None],
        may_stop: bool = True,
    ) -> None:
        """Predict and learn the rows of some blocks, each by the learner of its group.

        If a learner refuses a row and that ends the pass, other groups may have learned later rows
        of its block, which are observed too. If no more rows are wanted, the pass may stop in the
        middle of a block.
        """
        stops = reading.options.on_error == "stop"
        for found in blocks:
            codes, block = self.keys.of(found)
            if stops and block.faults:
                block = until(block, block.faults[0].row, block.faults[:1])
                codes = codes[: len(block)]
            # Of rows that workers have read, more features may be known by now than they have.
            count = reading.features if isinstance(block.X, Sparse) else block.X.shape[1]
            names = list(reading.feature_names(count))
            scores, refused, row = np.full(len(block), np.nan), list[Fault](), 0
            chances = np.zeros(len(block)) if is_of_classes(self.groups.learner) else None
            late = None if chances is None or block.keys is None else Late({}, {})
            while row < len(block):
                rows = min(self.at_once, self.groups.part_rows)
                began, stop = time.perf_counter(), min(row + rows, len(block))
                part = slice(row, stop)
                if chances is None:
                    refused += self.play_part(block, codes, part, names, scores)
                else:
                    refused += self.play_classes(block, codes, part, names, scores, chances, late)
                spent, row = time.perf_counter() - began, stop
                self.at_once = max(FEWEST, int(rows * min(4.0, SECONDS / max(spent, 1e-9))))
                if may_stop and row < len(block) and not reading.wanted():
                    block = until(block, row, [each for each in block.faults if each.row <= row])
                    scores = scores[:row]
                    chances = None if chances is None else chances[:row]
            faults = sorted([*block.faults, *refused], key=lambda fault: fault.row)
            ends = faults[0].error if faults and stops else None
            told = [error for _, error in faults] if refused or not stops else []
            kept = ~np.isnan(scores)
            chances = None if chances is None else chances[kept]
            if self.record is not None:
                self.record(reading, block, codes[: len(block)], kept)
            groups = codes[: len(block)] + self.keys.forgotten
            observe(block, Played(kept, told, scores, chances, ends, late, groups))
            if ends is not None:
                raise ends

    def play_part(
        self,
        block: Block,
        codes: NDArray[np.int64],
        part: slice,
        names: list[str],
        scores: Floats,
    ) -> list[Fault]:
        """Play some rows, those of the pool and then others group by group; return refused ones."""
        pooled = None
        if not isinstance(block.X, Sparse) and not block.booleans:
            pooled = self.groups.pooled(names)
        rows = np.arange(part.start, part.stop)
        if pooled is not None:
            rows = part.start + self.play_pooled(pooled, block, codes[part], part, scores)
        return self.play_learners(block, codes, rows, names, scores) if len(rows) else []

    def play_pooled(
        self,
        pooled: Pooled,
        block: Block,
        codes: NDArray[np.int64],
        part: slice,
        scores: Floats,
    ) -> NDArray[np.int64]:
        """Play some rows whose groups are in the pool; return the others, which it refuses."""
        slots = self.slots_for(pooled, codes)
        X: Floats = np.asarray(block.X[part], dtype=np.float64)
        y, made, at = block.y[part], scores[part], 0
        order = pooled.order_of(slots)
        while True:
            at, learned, loss, mistakes = pooled.play(slots, X, y, made, order, at)
            self.rounds += learned
            self.loss += loss
            self.mistakes += mistakes
            if at == len(slots):
                return np.flatnonzero(slots < 0)
            # It has refused a row: the learner itself tells why, and goes on.
            row, rest = order[at], order[at:]
            code = int(codes[row])
            self.groups.fetch(self.keys.names[code])
            self.slots[code], self.slots_of = -2, (pooled, pooled.version, self.keys.era)
            slots[rest[codes[rest] == code]] = -2
            made[row] = np.nan

    def slots_for(self, pooled: Pooled, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the slot of each row's group in the pool, negative for others."""
        of = (pooled, pooled.version, self.keys.era)
        if self.slots_of != of:
            self.slots, self.slots_of = np.zeros(0, np.int64), of
        more = len(self.keys.names) - len(self.slots)
        self.slots = np.append(self.slots, np.full(more, -1)) if more else self.slots
        slots = self.slots[codes]
        if (slots == -1).any():
            new = np.unique(codes[slots == -1])
            keys = [self.keys.names[code] for code in new.tolist()]
            self.slots[new] = self.groups.pool_slots(pooled, keys, slots)
            slots = self.slots[codes]
            if pooled.version != of[1]:  # other groups may have left
                self.slots = np.full(len(self.slots), -1)
                self.slots[codes], self.slots_of = slots, (pooled, pooled.version, self.keys.era)
        else:
            pooled.touch(slots)
        return slots

    def play_learners(
        self,
        block: Block,
        codes: NDArray[np.int64],
        rows: NDArray[np.int64],
        names: list[str],
        scores: Floats,
    ) -> list[Fault]:
        """Play some rows, group by group; return refused ones."""
        order, spans = self.by_group(codes, rows)
        y = block.y[order]
        whole = not np.isnan(y).any()
        # Rows without gaps are learned as a table.
        X = block.X[order] if whole and not isinstance(block.X, Sparse) else None
        made = np.full(len(order), np.nan)
        faults: list[Fault] = []
        groups = self.groups
        # First the groups in memory that know the columns, all at once.
        left = []
        ready: list[Learner] = []
        ranges: list[tuple[int, int]] = []
        for span in spans:
            learner = None if X is None or block.booleans else groups.held(span[0])
            if learner is None or learner._entry.known.names != names:
                left.append(span)
            else:
                ready.append(learner)
                ranges.append(span[1:])
        if X is not None and ready:
            faults += self.play_ready(ready, ranges, block, names, order, X, y, made)
        for key, start, stop in left:
            learner = groups.fetch(key)
            entry, before = learner._entry, learner.rounds
            total, wrong = learner.total_loss, learner.mistakes
            done = start
            if X is not None and entry.known.names in ([], names):
                try:
                    learn_many.play_columns(
                        entry, X[start:stop], y[start:stop], names, made[start:stop]
                    )
                    done = stop
                except NoRegretError:  # the row is refused again below
                    done = start + learner.rounds - before
            if done < stop:
                faults += self.play_rows(learner, block, names, order[done:stop], made[done:stop])
            if learner.rounds > before:
                if block.booleans:
                    entry.note_booleans()
                self.rounds += learner.rounds - before
                self.loss += learner.total_loss - total
                self.mistakes += learner.mistakes - wrong
            groups.keep(key, learner)
        scores[order] = made
        return faults

    def by_group(
        self, codes: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Iterator[tuple[Any, int, int]]]:
        """Return rows in the order of their groups' appearance, and each group with its range."""
        order, spans = sorted_by_key(codes[rows].tolist())
        return rows[order], ((self.keys.names[code], *span) for code, *span in spans)

    def play_classes(
        self,
        block: Block,
        codes: NDArray[np.int64],
        part: slice,
        names: list[str],
        scores: Floats,
        chances: Floats,
        late: Late | None,
    ) -> list[Fault]:
        """Play some rows of several classes, group by group; return refused ones.

        Scores are the positions of the predicted classes in the block's list, −1 for none.
        """
        order, spans = self.by_group(codes, np.arange(part.start, part.stop))
        classes = block.classes or []
        numbers = {name: number for number, name in enumerate(classes)}
        faults: list[Fault] = []
        for key, start, stop in spans:
            learner = self.groups.fetch(key)
            assert is_of_classes(learner)
            before, total, where = learner.rounds, learner.total_loss, order[start:stop]
            wrong = learner.mistakes
            made, sure = np.full(len(where), np.nan), np.zeros(len(where))
            done = 0
            if late is None and not np.isnan(block.y[where]).any():
                done = play_table(learner, block, names, where, made, sure)
            rest = slice(done, None)
            faults += play_each(learner, block, names, where[rest], made[rest], sure[rest], late)
            if block.booleans and learner.rounds > before:
                learner._entry.note_booleans()
            self.rounds += learner.rounds - before
            self.loss += learner.total_loss - total
            self.mistakes += learner.mistakes - wrong
            self.groups.keep(key, learner)
            known = np.array([*(numbers[name] for name in learner.classes), -1.0])
            there = ~np.isnan(made)
            made[there] = known[made[there].astype(np.intp)]
            scores[where], chances[where] = made, sure
        return faults

    def play_ready(
        self,
        learners: list[Learner],
        ranges: list[tuple[int, int]],
        block: Block,
        names: list[str],
        order: NDArray[np.int64],
        X: Floats,
        y: Floats,
        made: Floats,
    ) -> list[Fault]:
        """Play ranges of rows with learners that know the columns; return refused ones."""
        entries, faults, at = [each._entry for each in learners], list[Fault](), 0
        starts, stops = np.array(ranges, dtype=np.int64).T.copy()
        while at < len(entries):
            at, done, loss, mistakes = block_rows.play_groups(
                entries, starts, stops, X, y, made, at
            )
            self.loss += loss
            self.mistakes += mistakes
            if at < len(entries):  # it has refused a row, and refuses it again
                learner, stop = learners[at], ranges[at][1]
                total, wrong = learner.total_loss, learner.mistakes
                faults += self.play_rows(learner, block, names, order[done:stop], made[done:stop])
                self.loss += learner.total_loss - total
                self.mistakes += learner.mistakes - wrong
                at += 1
        self.rounds += int((stops - starts).sum()) - len(faults)
        return faults

    def play_rows(
        self,
        learner: Learner,
        block: Block,
        names: list[str],
        where: NDArray[np.int64],
        scores: Floats,
    ) -> list[Fault]:
        """Play the rows of one group, and predict those without an outcome; return refused ones."""
        faults: list[Fault] = []
        left, at = where, 0
        while len(left):
            # Rows with an outcome are learned together, others predicted one by one.
            labelled = ~np.isnan(block.y[left])
            part = left[: int(np.argmin(np.append(labelled, False)))] if labelled[0] else left[:1]
            rows = [example_of(block, row, names) for row in part.tolist()]
            done, made = 0, np.full(len(part), np.nan)
            try:
                if labelled[0]:
                    done = learner.rounds
                    learn_many.play(learner._entry, rows, block.y[part], made)
                else:
                    made[0] = learner._entry.decide(rows[0])
                used = len(part)
            except NoRegretError as error:
                used = learner.rounds - done + 1 if labelled[0] else 1
                row = int(part[min(used, len(part)) - 1])
                faults.append(Fault(row, error.at(block.place_of(row)).with_traceback(None)))
            scores[at : at + len(part)] = made
            at += used
            left = left[used:]
        return faults


def is_name(value: Any) -> bool:
    """Return whether a value may name a group."""
    if type(value) is str:  # what is not UTF-8 text was replaced
        return value != "" and "\N{REPLACEMENT CHARACTER}" not in value
    return type(value) is int


def play_table(
    learner: ClassLearner,
    block: Block,
    names: list[str],
    where: NDArray[np.int64],
    scores: Floats,
    chances: Floats,
) -> int:
    """Play rows of classes as a table, if the learner knows its columns; return how many."""
    entry, before = learner._entry, learner.rounds
    if entry.known.names not in ([], names) or isinstance(block.X, Sparse):
        return 0
    X: Floats = np.asarray(block.X[where], dtype=np.float64)
    learner.engine.note_chances(chances)
    try:
        codes = codes_of(learner, block.classes or [], block.y[where])
        learn_many.play_columns(entry, X, codes, names, scores)
    except NoRegretError:  # the row is refused again, by itself
        pass
    finally:
        learner.engine.note_chances(None)
    return learner.rounds - before


def play_each(
    learner: ClassLearner,
    block: Block,
    names: list[str],
    where: NDArray[np.int64],
    scores: Floats,
    chances: Floats,
    late: Late | None,
) -> list[Fault]:
    """Play rows of classes one by one, and predict those without a class; return refused ones."""
    faults, classes = list[Fault](), block.classes or []
    for at, row in enumerate(where.tolist()):
        x, y = example_of(block, row, names), block.y[row]
        try:
            each = learner._entry.decision(x)
            found, sure = best_of(each[None, :])
            if not np.isnan(y):
                paid = learner.total_loss
                learner.learn_one(x, classes[int(y)])
                if late is not None:
                    late.losses[row] = learner.total_loss - paid
            elif late is not None:
                late.scores[row] = dict(zip(learner.classes, each.tolist(), strict=True))
            scores[at], chances[at] = found[0], sure[0]
        except NoRegretError as error:
            faults.append(Fault(row, error.at(block.place_of(row)).with_traceback(None)))
    return faults
