"""One workbook, as one reader has read it, beside what is in the database."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, islice, zip_longest
from operator import is_
from pathlib import Path

from readers import Reader, Record
from table import COLUMNS, FULL, SHEETS, Cell, number_format, read_database

LISTED = 10


@dataclass
class Finding:
    """What came of one workbook with one reader."""

    reader: str
    rows: int
    sheets: int = 0
    cells: int = 0
    mismatches: int = 0
    seconds: float = 0.0
    # The first mismatches, in words.
    listed: list[str] = field(default_factory=list)

    def mismatch(self, words: str) -> None:
        self.mismatches += 1
        if len(self.listed) < LISTED:
            self.listed.append(words)

    def compare(self, what: str, read: object, expected: object) -> None:
        """Compares something that is no cell with a value."""
        self.cells += 1
        if read != expected:
            self.mismatch(f"{what} is {read!r:.200}, not {expected!r:.200}")


class _Absent:
    """What stands where there is no cell at all; equal to nothing that is read."""

    def __repr__(self) -> str:
        return "no cell"


_ABSENT = _Absent()


def compare(reader: Reader, book: Path, database: Path, rows: int, scratch: Path) -> Finding:
    """Compares every cell of every sheet."""
    finding = Finding(reader.name, rows)
    begun = time.monotonic()
    try:
        expected = _expected_sheets(reader, database, rows)
        pairs = zip_longest(expected, reader.sheets(book, scratch), fillvalue=("", iter(())))
        for (name, wanted), (read_name, read) in pairs:
            finding.sheets += 1
            if read_name != name:
                finding.mismatch(f"sheet {finding.sheets} is named {read_name!r}, not {name!r}")
            _compare_rows(finding, name, wanted, read)
    except Exception as error:
        # Whatever a reader says of a book: it could not read it.
        finding.mismatch(f"reading ended with {type(error).__name__}: {error}")
    finding.seconds = time.monotonic() - begun
    return finding


def _expected_sheets(
    reader: Reader, database: Path, rows: int
) -> Iterator[tuple[str, Iterator[Record]]]:
    header: tuple[Cell, ...] = tuple(column.title for column in COLUMNS)
    entries = read_database(database, rows)
    for number in range(max(1, -(-rows // FULL))):
        cells = chain([header], islice(entries, FULL))
        yield SHEETS[number], (tuple(map(reader.expect, row)) for row in cells)


def _compare_rows(
    finding: Finding, sheet: str, wanted: Iterable[Record], read: Iterable[Record]
) -> None:
    nothing: Record = ()
    for number, (want, got) in enumerate(zip_longest(wanted, read, fillvalue=nothing), 1):
        finding.cells += max(len(want), len(got))
        # Kinds too: to Python, true is 1.
        if want == got and all(map(is_, map(type, want), map(type, got))):
            continue
        for column, (one, other) in enumerate(zip_longest(want, got, fillvalue=_ABSENT)):
            if one != other or type(one) is not type(other):
                place = f"{sheet}!{chr(ord('A') + column)}{number}"
                finding.mismatch(f"{place} is {other!r:.200}, not {one!r:.200}")


def look_over(book: Path, by_key: Path, database: Path, rows: int) -> Finding:
    """Looks a small workbook over with openpyxl: a bold header that stays in sight, with filters,
    and how numbers, days and times are shown. `by_key` is the same with `header=key`."""
    from openpyxl import load_workbook

    finding = Finding("openpyxl (looks)", rows)
    begun = time.monotonic()
    finding.sheets = 1
    (sheet,) = load_workbook(book).worksheets
    header, *shown = sheet.rows
    finding.compare("the frozen pane", sheet.freeze_panes, "A2")
    last = chr(ord("A") + len(COLUMNS) - 1)
    finding.compare("the filters' range", sheet.auto_filter.ref, f"A1:{last}{rows + 1}")
    for cell in header:
        finding.compare(f"bold in {cell.coordinate}", bool(cell.font.bold), True)
    for row, cells in zip(shown, read_database(database, rows), strict=True):
        for column, cell, value in zip(COLUMNS, row, cells, strict=True):
            finding.compare(f"bold in {cell.coordinate}", bool(cell.font.bold), False)
            # Nothing else has a format that shows.
            if isinstance(value, (float, date)):
                wanted = number_format(column, value)
                finding.compare(f"the format of {cell.coordinate}", cell.number_format, wanted)
    keys = [cell.value for cell in load_workbook(by_key).worksheets[0][1]]
    finding.compare("the header of keys", keys, [column.key for column in COLUMNS])
    finding.seconds = time.monotonic() - begun
    return finding
