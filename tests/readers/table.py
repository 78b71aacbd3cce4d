"""The rows that the workbooks hold: made from their numbers alone, the same in every run.

Ordinary values come from arithmetic; between them, in cycles of different lengths, so that they
meet in ever new company, come those that spreadsheets and their readers are known to spoil.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

# What a cell holds by the contract. Numbers are doubles; `date` and `datetime` are told apart.
Cell = str | float | bool | date | datetime | None
Stored = tuple[int, int | None, str | None, str | None, int | None, str | None, str | None]


@dataclass(frozen=True)
class Column:
    key: str
    kind: str
    title: str
    # How numbers, days and times are shown.
    number_format: str


COLUMNS = (
    Column("id", "int", "번호", "0"),
    Column("big", "int", "Big number", "0"),
    Column("money", "decimal", "금액 (원)", "0.00"),
    Column("name", "text", '=Name "quoted"', "General"),
    Column("flag", "bool", "Flag", "General"),
    Column("day", "date", "Day", "yyyy-mm-dd"),
    Column("at", "time", "At", "yyyy-mm-dd hh:mm:ss"),
)


def number_format(column: Column, cell: Cell) -> str:
    """How a cell is shown: a time that has a fraction shows it."""
    fraction = isinstance(cell, datetime) and cell.microsecond > 0
    return column.number_format + (".000" if fraction else "")


# Everything that no sheet's name may have, and more of it than fits.
TITLE = 'Sales of 매출 / cost: [Q1] "all" of 2026'
# The names that remain: 31 UTF-16 units, of which a later sheet needs some for its number.
SHEETS = ('Sales of 매출 _ cost_ _Q1_ "all"', 'Sales of 매출 _ cost_ _Q1_ "a (2)')

# Rows below the header of a full sheet.
FULL = 1_048_575

# "Excel specifications and limits"
LONGEST_TEXT = 32_767
DIGITS = 15

# The server shows times in Asia/Seoul, which has kept this clock since 1988.
SEOUL = timedelta(hours=9)

_BIG = (
    999_999_999_999_999,
    1_000_000_000_000_000,
    -999_999_999_999_999,
    -1_000_000_000_000_000,
    2**53 + 1,
    -(2**63),
    2**63 - 1,
    0,
    -1,
    None,
)
_MONEY = (
    "0.00",
    "-0.01",
    "0.10",
    "57.70",
    "1234.50",
    "9999999999999.99",
    "-8123456789012.35",
    "99999999999999.90",
    "99999999999999.99",
    "-12345678901234567.89",
    None,
)
_NAMES = (
    "00012",
    "가맹점 서울 본점",
    'says "hello", twice ""',
    "two\nlines",
    "Windows\r\nlines",
    "=1+1",
    '=HYPERLINK("https://example.com")',
    "+82 10 0000 0000",
    "-5",
    "@SUM(A1)",
    "'apostrophe",
    "  blanks around  ",
    "tab\tinside",
    "<b>&amp;</b>",
    "😀 beyond the first plane",
    "TRUE",
    "2026-01-31",
    "1e5",
    "12345678901234567890",
    "#N/A",
    "https://example.com/?a=1&b=2",
    "_x0041_ is no A",
    "bell\x07 and \x0b",
    "1/2",
)
_DAYS = (
    "1900-03-01",
    "1900-02-28",
    "1900-01-01",
    "1899-12-31",
    "0001-01-01",
    "2024-02-29",
    "9999-12-31",
    None,
)
_TIMES = (
    "2026-01-31 15:00:00",
    "2026-01-31 14:59:59.999",
    "2026-01-31 14:59:59.999999",
    "2026-01-31 23:59:59.000999",
    "2026-01-31 00:00:00.001",
    "9999-12-31 14:59:59.999",
    "9999-12-31 15:00:00",
    None,
)


def _big(n: int) -> int | None:
    if n % 7 == 0:
        return _BIG[n // 7 % len(_BIG)]
    digits: int = 10 ** (1 + n % 18)
    return (n * 1_000_003 * 7_919 * 104_729 % digits) * (-1 if n % 3 == 0 else 1)


def _money(n: int) -> str | None:
    if n % 11 == 0:
        return _MONEY[n // 11 % len(_MONEY)]
    cents = n * 7_919_317 % 10**10
    return f"{'-' if n % 5 == 0 and cents else ''}{cents // 100}.{cents % 100:02}"


def _name(n: int) -> str | None:
    if n % 5_003 == 0:
        return ("", None)[n // 5_003 % 2]
    # Twice only: a long text in every thousandth row would be most of the workbook.
    if n in (500_000, FULL + 20):
        return "가" * (LONGEST_TEXT - 1) + "😀 is cut: half of a character is none"
    if n % 13 == 0:
        return _NAMES[n // 13 % len(_NAMES)]
    return (f"{n:08}", f"가맹점 {n}", f'Shop "{n}"', f"Line {n}\nnext", f"={n}+1")[n % 5]


def _flag(n: int) -> int | None:
    return None if n % 101 == 0 else int(n % 3 == 1)


def _day(n: int) -> str | None:
    if n % 17 == 0:
        return _DAYS[n // 17 % len(_DAYS)]
    return (date(1950, 1, 1) + timedelta(days=n * 31 % 50_000)).isoformat()


def _at(n: int) -> str | None:
    if n % 19 == 0:
        return _TIMES[n // 19 % len(_TIMES)]
    # Every third to the second, to the millisecond, to the microsecond.
    fraction = (0, n * 7 % 1_000 * 1_000, n * 7_919 % 1_000_000)[n % 3]
    moment = datetime(1990, 1, 1) + timedelta(seconds=n * 1_237, microseconds=fraction)
    return moment.isoformat(" ")


def _stored(n: int) -> Stored:
    return n, _big(n), _money(n), _name(n), _flag(n), _day(n), _at(n)


def make_database(file: Path, rows: int) -> None:
    """Fills a database with rows numbered from 1."""
    with sqlite3.connect(file) as database:
        database.execute(
            "CREATE TABLE entries (id INTEGER PRIMARY KEY, big INTEGER, money TEXT, name TEXT,"
            " flag INTEGER, day TEXT, at TEXT)"
        )
        every = (_stored(n) for n in range(1, rows + 1))
        database.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", every)
    database.close()


def read_database(file: Path, rows: int) -> Iterator[tuple[Cell, ...]]:
    """The first rows out of the database, as the contract has them in cells."""
    database = sqlite3.connect(file)
    try:
        for stored in database.execute("SELECT * FROM entries WHERE id <= ? ORDER BY id", [rows]):
            yield _cells(stored)
    finally:
        database.close()


def report(rows: int) -> str:
    """The definition of a report of the first rows."""
    columns = "".join(
        f"\n[[columns]]\nkey = '{column.key}'\ntitle = '{column.title}'\ntype = '{column.kind}'\n"
        for column in COLUMNS
    )
    selected = ", ".join(column.key for column in COLUMNS)
    return (
        f"title = '{TITLE}'\n"
        f"sql = 'select {selected} from entries where id <= {rows}'\n"
        f"order_by = ['id']\n{columns}"
    )


def _cells(stored: Stored) -> tuple[Cell, ...]:
    number, big, money, name, flag, day, at = stored
    return (
        _int_cell(number),
        None if big is None else _int_cell(big),
        None if money is None else _money_cell(money),
        _text_cell(name),
        None if flag is None else bool(flag),
        None if day is None else _day_cell(day),
        None if at is None else _time_cell(at),
    )


def _int_cell(number: int) -> Cell:
    return float(number) if abs(number) < 10**DIGITS else str(number)


def _money_cell(digits: str) -> Cell:
    significant = Decimal(digits).normalize().as_tuple().digits
    return float(digits) if len(significant) <= DIGITS else digits


def _text_cell(text: str | None) -> Cell:
    """An empty text is a blank cell; a long one is cut between characters, counted in UTF-16."""
    if not text:
        return None
    if len(text) > LONGEST_TEXT // 2:
        units = text.encode("utf-16-le")[: 2 * LONGEST_TEXT]
        return units.decode("utf-16-le", errors="ignore")
    return text


def _day_cell(day: str) -> Cell:
    return date.fromisoformat(day) if day >= "1900" else day


def _time_cell(at: str) -> Cell:
    """To the millisecond, what is finer cut off; text beyond the year 9999."""
    utc = datetime.fromisoformat(at)
    try:
        seoul = utc + SEOUL
    except OverflowError:
        # The first hours of the first day of the year 10000.
        clock = (utc - timedelta(days=1) + SEOUL).time().isoformat()
        return f"+010000-01-01T{clock}+09:00"
    return seoul.replace(microsecond=seoul.microsecond // 1_000 * 1_000)
