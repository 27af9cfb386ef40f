"""CSV and TSV: the compiled parser for blocks of plain numbers, Arrow for everything else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, Place, foreign, tell
from noregret.streams.block import Block, Fault, Floats, placed
from noregret.streams.columns import (
    NUMBER,
    TEXT,
    Table,
    encoded,
    known,
    summaries,
    tell_absent,
    with_gaps,
)
from noregret.streams.csv_dialect import (
    COMMA,
    MISSING_WORDS,
    delimiter_of,
    from_latin_1,
    is_latin_1,
)
from noregret.streams.csv_quotes import Joined, lines_that_look_like_rows, with_letters_quoted
from noregret.streams.csv_repair import (
    Mended,
    check_returns,
    difference,
    first_record,
    repaired,
    row_lines,
    split_names,
)
from noregret.streams.open_file import is_plain
from noregret.streams.options import (
    ASLEEP,
    AUTO,
    INDICATOR,
    LATIN_1,
    LINE,
    MULTILINE,
    STOP,
    TAB,
    UTF_8,
)
from noregret.streams.parsing.text import count_lines, parse_csv
from noregret.streams.source import MAX_LINE, Piece
from noregret.streams.stream import StartAgain, State, Stream, reader_of
from noregret.streams.table_reading import MIN_DATE_SHARE, TableReading

# Bytes from which the kinds of columns are inferred.
SAMPLE_BYTES = 1 << 20


class Text(NamedTuple):
    """The text of a piece: the names of the columns, if it begins a file, and the rows."""

    header: list[str] | None  # None, too, if quotes must be counted to split the piece
    body: bytes
    names: int = 0  # lines before the first row


class Parsed(NamedTuple):
    """A piece of a file, parsed."""

    piece: Piece
    table: Table | None  # None: it holds quotes, which must be counted to split it
    whole: bool = False  # whether its numbers have all features in place already
    lines: int = 0
    names: int = 0  # lines before the first row, in the first piece of a file
    faults: tuple[Fault, ...] = ()  # lines that are not rows, counted in the piece
    kept: list[int] | None = None  # the line of each row, if some lines are not rows
    joined: Joined | None = None  # lines joined to one row, though each could be one
    written: frozenset[str] = frozenset()  # columns of plain numbers with others among them


class CsvReading(TableReading):
    """One pass through CSV files."""

    min_date_share = MIN_DATE_SHARE

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        self.header: list[str] | None = None
        self.delimiter = ""  # empty until the first text is read
        self.encoding = ""
        self.decimals: dict[str, str] = {}  # of columns of other than plain numbers
        self.written: set[str] = set()  # columns of plain numbers that hold others too
        self.sniff = stream.options.sniff
        self.careful = False  # whether line ends may be part of values
        self.told_joined = False  # whether it was told that lines were joined
        self.places: NDArray[np.int32] | None = None
        self.absent: list[str] = []  # columns of the model that a file to be scored lacks
        self.tag_codes: Any = None
        super().__init__(stream, learning, state)

    def columns_state(self) -> dict[str, Any]:
        """Return the columns, the delimiter, the encoding, and whether quotes were seen."""
        return super().columns_state() | {
            "header": self.header,
            "careful": self.careful,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "decimals": self.decimals,
            "written": sorted(self.written),
        }

    def set_columns_state(self, state: dict[str, Any]) -> None:
        """Restore the columns."""
        super().set_columns_state(state)
        self.decimals = state.get("decimals", {})
        self.written = set(state.get("written", ()))
        # Files to be scored may have other columns besides.
        if self.learning or state.get("same_files"):
            self.header, self.careful = state["header"], state["careful"]
            # 0.1.0 did not detect these, and its checkpoints are continued without.
            assert isinstance(self.stream, CsvStream)
            self.sniff = self.sniff and "delimiter" in state
            self.delimiter = state.get("delimiter", self.stream.usual_delimiter)
            self.encoding = state.get("encoding", UTF_8)
            if (
                self.learning
                and self.header is not None
                and not set(self.header) <= (self.kinds or {}).keys()
            ):
                raise ValueError("its header has columns without a kind")

    def found(self) -> dict[str, Any]:
        """Return the delimiter, the encoding and the written numbers that were detected."""
        assert isinstance(self.stream, CsvStream)
        options, found = self.options, super().found()
        if options.delimiter == AUTO and self.delimiter not in ("", self.stream.usual_delimiter):
            found["delimiter"] = TAB if self.delimiter == "\t" else self.delimiter
        if options.encoding == AUTO and self.encoding == LATIN_1:
            found["encoding"] = LATIN_1
        marks = self.marks([] if self.settled is None else self.settled.columns)
        commas = {name for name, mark in marks.items() if mark == COMMA}
        found["decimal_commas"] = tuple(sorted(commas))
        found["written_numbers"] = tuple(sorted({*marks, *self.written} - commas))
        return found

    def may_be_written(self, name: str) -> bool:
        """Return whether a column may hold numbers as people write them."""
        options = self.options
        return self.sniff or name in options.written_numbers or name in options.decimal_commas

    # The first lines: names and kinds.

    def begin(self, piece: Piece, text: Text) -> None:
        """Infer the columns, their kinds and their roles from the first piece."""
        if self.header is None:
            self.header = text.header
            self.check_line_ends(text.body, piece)
            if self.kinds is None:
                self.kinds = self.kinds_of(text.body)
        assert self.header is not None
        assert self.kinds is not None
        roles = self.roles(piece.path)
        there = set(self.header)
        for name in roles.columns:
            if name not in there:
                if self.learning or self.options.missing == STOP or not there & {*roles.columns}:
                    known(name, self.header, piece.path)
                tell_absent(name, piece.path)
                self.absent.append(name)
        numeric = [self.kinds[name] == NUMBER for name in [*roles.numbers, roles.target] if name]
        places = self.vocabulary.positions(roles.dense_names)
        in_order = not len(self.vocabulary) or bool((places == np.arange(len(places))).all())
        simple = not self.absent and COMMA not in self.marks(roles.columns).values()
        if roles.plain and all(numeric) and in_order and simple and not self.options.labels:
            numbers, at = {*roles.numbers}, {name: k for k, name in enumerate(roles.dense_names)}
            used = [at.get(name, -1) if name in numbers else -1 for name in self.header]
            if roles.target is not None:
                used[self.header.index(roles.target)] = -2
            self.places = np.array(used, dtype=np.int32)

    @property
    def quotes(self) -> str:
        """The meaning of quotes: one of ``QUOTES`` other than auto."""
        assert isinstance(self.stream, CsvStream)
        given = self.options.quotes
        return self.stream.quotes if given == AUTO else given

    def marks(self, columns: list[str]) -> dict[str, str]:
        """Return the decimal marks of columns that hold other than plain numbers."""
        found = {name: self.decimals[name] for name in columns if name in self.decimals}
        # Where commas separate values, they are not decimal marks: the columns were detected from
        # a file with another delimiter.
        return {} if self.delimiter == COMMA and COMMA in found.values() else found

    def delimiter_in(self, text: bytes) -> bytes:
        """Return the delimiter, detected from the first text unless it is known."""
        assert isinstance(self.stream, CsvStream)
        if not self.delimiter:
            given = self.options.delimiter
            if given != AUTO:
                self.delimiter = "\t" if given == TAB else given
            elif not (self.sniff and self.stream.sniffed):
                self.delimiter = self.stream.usual_delimiter
            else:
                first = self.first_line(text)
                self.delimiter = delimiter_of(first, self.quotes, self.options.target)
        return self.delimiter.encode()

    def text_of(self, piece: Piece) -> Text:
        """Read a piece as UTF-8, and escape quotes that are ordinary characters."""
        text, quotes = piece.text(), self.quotes
        if not self.encoding:
            given = self.options.encoding
            latin = given == AUTO and self.sniff and is_latin_1(self.first_line(text))
            self.encoding = LATIN_1 if latin else UTF_8 if given == AUTO else given
        if self.encoding == LATIN_1:
            text = from_latin_1(text)
        self.delimiter_in(text)
        if quotes != MULTILINE:
            text = with_letters_quoted(text, self.delimiter.encode(), quotes == LINE)
        if piece.start or self.needs_care(piece, text):
            return Text(None, text)
        header, body = split_names(text, piece.path, self.delimiter, self.options.header)
        return Text(header, body, text.count(b"\n", 0, len(text) - len(body)))

    def first_line(self, text: bytes) -> bytes:
        """Return the text to detect the form of a file from: one line if rows are taken at once."""
        start = len(text) - len(text.lstrip(b"\r\n"))
        return text[start : text.find(b"\n", start) + 1 or len(text)] if self.at_once else text

    def needs_care(self, piece: Piece, text: bytes) -> bool:
        """Return whether a piece may have been split inside a quoted value."""
        careful = self.careful or piece.contents is not None or self.quotes != MULTILINE
        return not careful and b'"' in text

    def kinds_of(self, body: bytes) -> dict[str, str]:
        """Return the kind of each column, from the first rows, or the first if taken at once."""
        assert self.header is not None
        sample = body if self.careful else body[: body.rfind(b"\n", 0, SAMPLE_BYTES) + 1] or body
        if self.at_once:
            sample = body[slice(*first_record(body, self.delimiter))]
        kinds = dict.fromkeys(self.header, NUMBER)
        if sample.strip() and not self.looks_plain(sample):
            from noregret.streams.csv_columns import columns_in

            form = self.header, self.delimiter, self.options, self.may_be_written, self.paths[0]
            kinds, self.decimals, texts = columns_in(sample, *form)
            self.find_texts(texts, self.paths[0])
            kinds |= self.days | self.iso_times
        for words in (*self.options.categories, *self.options.text, *self.options.labels):
            if words in kinds:
                kinds[words] = TEXT
                self.decimals.pop(words, None)
        return {sys.intern(name): kind for name, kind in kinds.items()}

    def looks_plain(self, sample: bytes) -> bool:
        """Return whether a sample holds only numbers, as most files do, so Arrow is not needed."""
        assert self.header is not None
        count = len(self.header)
        places = np.arange(count, dtype=np.int32)
        found = parse_csv(sample, count, places, count, self.delimiter.encode(), "zero")
        return bool(found.plain and len(found.X))

    # The pieces.

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Parsed]]:
        """Yield a job for every piece."""
        careful = self.careful
        if self.unchecked and mark is not None:
            self.check_foreigns(mark)
        source = self.source(self.delimiter_in if self.quotes == MULTILINE else None, careful)
        for piece, first in self.with_rows(source.pieces(mark)):
            text = first
            if self.settled is None:
                text = text or self.text_of(piece)
                if self.needs_care(piece, text.body):
                    self.careful = True
                    yield from self.jobs(mark)
                    return
                self.begin(piece, text)
            yield partial(self.parse, piece, text)

    def with_rows(self, pieces: Iterator[Piece]) -> Iterator[tuple[Piece, Text | None]]:
        """Join the first pieces of each file until a row follows the names; leave out the rest.

        The first piece of a file is read here, and comes with its text.
        """
        held: tuple[Piece, Text] | None = None
        for piece in pieces:
            if held and held[0].file != piece.file:
                self.check_lone_line(*held)
                held = None
            whole = held[0].with_next(piece) if held else piece
            text = None if whole.start else self.text_of(whole)
            if text is None or text.header is None or text.body.strip(b"\r\n"):
                yield whole, text
                held = None
            elif whole.stop - whole.start > MAX_LINE:
                raise BadExample(f"no row in its first {MAX_LINE >> 20} MiB", file=piece.path)
            else:
                held = whole, text
        if held:
            self.check_lone_line(*held)

    def check_lone_line(self, piece: Piece, text: Text) -> None:
        """Refuse a file without rows whose only line is not the header of the others."""
        if self.header is not None and any(text.header or []):
            self.check_header(text.header or [], piece.path)

    def parse(self, piece: Piece, text: Text | None) -> Parsed:
        """Parse a piece, and read it if it was not read before; called in any thread."""
        header, body, names = text or self.text_of(piece)
        if header is not None:
            self.check_header(header, piece.path)
        elif not piece.start:  # quotes must be counted first
            return Parsed(piece, None)
        plain = self.plain_table(body)
        if (plain is None or plain[3]) and not self.needs_care(piece, body):
            self.check_line_ends(body, piece)
        if plain is not None:
            table, lines, whole, _ = plain
            return Parsed(piece, table, whole, names + lines, names)
        if self.needs_care(piece, body):
            return Parsed(piece, None)
        table, mended = self.arrow_table(body, piece)
        faults, kept = ((), None) if mended is None else (mended.faults, mended.kept)
        lines = count_lines(body)
        joined = self.joined_in(body) if lines > len(table.y) + len(faults) else None
        written = frozenset[str]() if mended is None else mended.written
        return Parsed(piece, table, False, names + lines, names, faults, kept, joined, written)

    def check_line_ends(self, body: bytes, piece: Piece) -> None:
        """Refuse carriage returns within lines: some readers end a line there, others do not."""
        if b"\r" in body:
            check_returns(body if self.quotes == MULTILINE else None, piece)

    def joined_in(self, body: bytes) -> Joined | None:
        """Return lines that quotes have joined to one row, though each of them could be one."""
        if self.told_joined or self.quotes != MULTILINE or b'"' not in body:
            return None
        assert self.header is not None
        return lines_that_look_like_rows(body, self.delimiter.encode(), len(self.header))

    def check_header(self, header: list[str], path: str) -> None:
        """Raise an error if the columns of a file are not those of the first file."""
        assert self.header is not None
        if said := difference(header, self.header):
            first = "the rows before" if path == self.paths[0] else self.paths[0]
            raise BadExample(f"its columns are not those of {first}: {said}", file=path)

    def check_foreigns(self, mark: dict[str, Any]) -> None:
        """Refuse files, read before a mark, whose columns have other names now."""
        for number, path in enumerate(self.paths[: mark["file"] + 1]):
            if not is_plain(path):
                continue
            with self.stream.open(path) as opened:
                text = opened.block()
            piece = Piece(number, path, 0, len(text), 0, text)
            header, body, _ = self.text_of(piece)
            if body and header is not None and (said := difference(header, self.header or [])):
                raise BadExample(
                    f"its columns are not those that the checkpoint was made with: {said}",
                    file=path,
                )

    def plain_table(self, body: bytes) -> tuple[Table, int, bool, bool] | None:
        """Return a piece of nothing but numbers, how many lines it has, and whether all is well.

        The last value is False if it has no carriage return. None for any other piece.
        """
        roles, missing = self.settled, self.options.missing
        if self.places is None or roles is None:
            return None
        found = parse_csv(
            body,
            len(self.places),
            self.places,
            len(roles.dense_names),
            self.delimiter.encode(),
            missing if missing in ("zero", ASLEEP) else "stop",  # type: ignore[arg-type]
        )
        if not found.plain:
            return None
        empty_rows = summaries(found.X, roles) if found.asleep or self.options.add else 0
        y: Floats = found.outcomes if roles.target is not None else np.full(len(found.X), np.nan)
        # Where cells are empty, an outcome may be among them, or all forecasts of a row.
        whole = not found.asleep or not (empty_rows or np.isnan(y).any())
        table = Table(roles.numbers, found.X, None, [], y, self.options.intercept)
        return table, found.line_count, whole, found.returns

    def arrow_table(self, body: bytes, piece: Piece) -> tuple[Table, Mended | None]:
        """Return any piece, and its records one by one if Arrow cannot parse it as it is."""
        import pyarrow as pa

        from noregret.streams.csv_arrow import parsed, types_of

        roles = self.settled
        assert roles is not None
        assert self.kinds is not None
        assert self.header is not None
        used = [name for name in roles.columns if name not in self.absent]
        types = types_of(self.kinds, roles.columns, self.days)
        gaps = {name: types.pop(name) for name in self.absent}
        form = self.header, self.delimiter, MISSING_WORDS, types, used
        marks = self.marks(used)
        if not body.strip(b"\r\n"):
            empty = pa.table({name: pa.array([], kind) for name, kind in (types | gaps).items()})
            return encoded(empty, roles), None
        try:
            return encoded(with_gaps(parsed(body, *form, marks), gaps), roles), None
        except pa.ArrowInvalid:
            from noregret.streams.local_dates import order_of

            kinds = {name: self.kinds[name] for name in used}
            asleep, by_line = self.options.missing == ASLEEP, self.quotes == LINE
            mended = repaired(
                body,
                self.header,
                kinds,
                self.delimiter,
                MISSING_WORDS,
                asleep=asleep,
                by_line=by_line,
                marks=marks,
                orders={name: order_of(self.options.dates, name) or "" for name in self.days},
                may_be_written=self.may_be_written,
                target=self.options.target,
            )
        try:
            if not mended.kept:
                return self.arrow_table(b"", piece)[0], mended
            return encoded(with_gaps(parsed(mended.text, *form), gaps), roles), mended
        except pa.ArrowInvalid as error:
            raise BadExample(foreign(error), file=piece.path) from None

    def settle(self, raw: Parsed) -> Block:
        """Make a block from a piece."""
        piece = raw.piece
        if raw.table is None:
            self.careful = True
            raise StartAgain
        self.written |= raw.written
        before = self.lines_before(piece) + raw.names
        mark, size = self.mark_after(piece, raw.lines), self.read_so_far(piece.file, piece.read)
        self.look_at(raw.table)
        if self.encoding == LATIN_1 and self.options.encoding == AUTO and not before - raw.names:
            what = "read as Latin-1, as it is not UTF-8"
            tell(what, "for another encoding, convert the file to UTF-8", file=piece.path)
        if raw.joined is not None and not self.told_joined:
            self.told_joined = True
            raw.joined.tell(piece.path, before)

        @cache
        def lines() -> list[int]:
            found = raw.kept
            return row_lines(self.text_of(piece).body, self.delimiter) if found is None else found

        def place_of(row: int) -> Place:
            return Place(piece.path, before + lines()[row])

        # Once a cell was empty, there is a feature more than there are columns.
        if raw.whole and (
            self.options.missing != INDICATOR or self.fits_dense(raw.table, len(raw.table.y) > 0)
        ):
            if len(raw.table.y) and self.settled is not None:
                self.admit_dense(self.settled)
            block = Block(raw.table.numbers, raw.table.y, place_of, mark, size)
        else:
            faults = placed(raw.faults, piece.path, before)
            block = self.block_of(raw.table, place_of, mark, size, faults)
        if self.options.passed:
            block.tags = self.passed_of(piece, block, before)
        return block

    def passed_of(self, piece: Piece, block: Block, before: int) -> Any:
        """Return the values that are passed on, as they are written, as JSON."""
        from noregret.streams.coded_tags import TagCodes

        assert self.header is not None
        if self.tag_codes is None:
            self.tag_codes = TagCodes(map(self.header.index, self.options.passed), self.delimiter)
        return self.tag_codes.of(self.text_of(piece).body, block, before)


class CsvStream(Stream):
    """Comma-separated files, or ones with another delimiter, usually with a header.

    The first megabyte decides about the kinds of columns. All numbers are correctly rounded floats.
    """

    name = "csv"
    extensions: ClassVar[tuple[str, ...]] = (".csv",)
    reading_class = CsvReading
    meaningless: ClassVar[tuple[str, ...]] = ("sheet",)
    usual_delimiter: ClassVar[str] = ","
    sniffed: ClassVar[bool] = True  # whether the delimiter may be another one
    quotes: ClassVar[str] = MULTILINE  # by default


class TsvStream(CsvStream):
    """Tab-separated files."""

    name = "tsv"
    extensions: ClassVar[tuple[str, ...]] = (".tsv",)
    usual_delimiter: ClassVar[str] = "\t"
    sniffed: ClassVar[bool] = False
    quotes: ClassVar[str] = LINE


read_csv = reader_of(CsvStream, TsvStream)
