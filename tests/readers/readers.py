"""Programs that read workbooks, and what each is to read where the contract has a certain cell.

A reader never bends what it has read until it fits: where its program shows a cell otherwise than
the workbook has it, `expect` says so, exactly, with the reason. All that is changed of what was
read is the kind of a Python object that stands for the same value, in `_double` and `_moment`, and one
escape that openpyxl takes out of some texts itself, in `_without_escapes`.
"""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Protocol

from table import Cell

Record = tuple[object, ...]

CONVERSION_SECONDS = 1_200


class Reader(Protocol):
    """A program that reads workbooks."""

    name: str
    # What to install when it is not there.
    package: str

    def is_there(self) -> bool: ...

    def sheets(self, book: Path, scratch: Path) -> Iterator[tuple[str, Iterator[Record]]]:
        """The sheets in their order, with name and rows. `scratch` is an empty directory."""

    def expect(self, cell: Cell) -> object:
        """What this reader is to read for a cell."""


def _double(value: object) -> object:
    """Numbers are doubles in a workbook; one without a fraction comes as an int."""
    return float(value) if type(value) is int else value


def _without_escapes(value: object) -> object:
    """openpyxl 3.1 takes this escape out of texts that cells share, and leaves it in the others."""
    return value.replace("_x005F_", "_") if isinstance(value, str) else value


def _moment(value: object) -> object:
    """A day is its midnight: in a workbook both are the same number."""
    return datetime(value.year, value.month, value.day) if type(value) is date else value


class Openpyxl:
    """openpyxl in read-only mode."""

    name = "openpyxl"
    package = "openpyxl (PyPI), python3-openpyxl (Debian)"

    # Workbooks have _x0007_ for a control character.
    _ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f]")

    def is_there(self) -> bool:
        return importlib.util.find_spec("openpyxl") is not None

    def sheets(self, book: Path, scratch: Path) -> Iterator[tuple[str, Iterator[Record]]]:
        from openpyxl import load_workbook

        workbook = load_workbook(book, read_only=True)
        try:
            for sheet in workbook.worksheets:
                rows = (map(_double, row) for row in sheet.values)
                yield sheet.title, (tuple(map(_without_escapes, row)) for row in rows)
        finally:
            workbook.close()

    def expect(self, cell: Cell) -> object:
        """openpyxl 3.1 leaves these escapes in texts as they are."""
        if isinstance(cell, str):
            return self._ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", cell)
        return _moment(cell)


class Calamine:
    """calamine through python-calamine."""

    name = "calamine"
    package = "python-calamine (PyPI)"

    def is_there(self) -> bool:
        return importlib.util.find_spec("python_calamine") is not None

    def sheets(self, book: Path, scratch: Path) -> Iterator[tuple[str, Iterator[Record]]]:
        from python_calamine import CalamineWorkbook

        workbook = CalamineWorkbook.from_path(str(book))
        for name in workbook.sheet_names:
            rows = workbook.get_sheet_by_name(name).iter_rows()
            yield name, (tuple(map(_moment, row)) for row in rows)

    def expect(self, cell: Cell) -> object:
        """python-calamine hands out a blank cell as an empty text."""
        return "" if cell is None else _moment(cell)


class LibreOffice:
    """LibreOffice, which writes every sheet as a CSV file. A record is its fields as they stand in
    that file, quotes included, so that a text is never taken for a number that looks the same."""

    name = "libreoffice"
    package = "libreoffice-calc (Debian)"

    # 44,34,76,1: comma, quote, UTF-8, from the first line on. After column formats and language:
    # true: all texts are quoted; true: numbers are not; false: not as shown but as one would type
    # it, which has all 15 digits of a number whatever its format, and the milliseconds of a time;
    # as shown, LibreOffice 7.4 makes 10000000000000.00 of 9999999999999.99 in the format 0.00;
    # false: no formulas; false: blanks stay; -1: all sheets, each into a file of its own.
    _FILTER = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false,false,false,-1"
    _FIELD = re.compile(r'("[^"]*(?:""[^"]*)*"|[^",\n]*)[,\n]')

    def is_there(self) -> bool:
        return shutil.which("soffice") is not None

    def sheets(self, book: Path, scratch: Path) -> Iterator[tuple[str, Iterator[Record]]]:
        out = scratch / "csv"
        said = self._convert(book, scratch / "profile", out)
        # The files do not say the order; what the program says of them does.
        files = [Path(name) for name in re.findall(r"^Writing sheet .* -> (.*\.csv)$", said, re.M)]
        if not files or set(files) != set(out.iterdir()):
            raise OSError(f"soffice wrote {sorted(out.iterdir())} and said: {said}")
        for file in files:
            yield file.stem.removeprefix(f"{book.stem}-"), self._records(file)

    def _convert(self, book: Path, profile: Path, out: Path) -> str:
        out.mkdir()
        command = [
            "soffice",
            f"-env:UserInstallation={profile.as_uri()}",
            "--headless",
            "--convert-to",
            self._FILTER,
            "--outdir",
            str(out),
            str(book),
        ]
        # soffice is a script and has children: they are ended as one group, by its id.
        process = subprocess.Popen(
            command,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=CONVERSION_SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode != 0:
            raise OSError(f"soffice ended with {process.returncode}: {said}")
        return said

    def _records(self, file: Path) -> Iterator[Record]:
        with file.open(encoding="utf-8", newline="\n") as lines:
            record = ""
            for line in lines:
                record += line
                # An odd number of quotes: a text goes on behind the line's end.
                if record.count('"') % 2 == 0:
                    yield self._fields(record)
                    record = ""
        if record:
            yield (record,)

    def _fields(self, record: str) -> Record:
        fields = self._FIELD.findall(record)
        whole = sum(map(len, fields)) + len(fields) == len(record)
        # What is no CSV is nothing that anybody expects.
        return tuple(fields) if whole else (record,)

    def expect(self, cell: Cell) -> object:
        """Two things LibreOffice changes when it opens a workbook. CR LF within a text becomes LF,
        its own line end. Of the days before 1900-03-01, each is shown as the one before: it counts
        from 1899-12-30 and has no 1900-02-29, which Excel and the file format have."""
        match cell:
            case None:
                return ""
            case str():
                return '"' + cell.replace("\r\n", "\n").replace('"', '""') + '"'
            case bool():
                return "TRUE" if cell else "FALSE"
            case float():
                return str(int(cell)) if cell.is_integer() else repr(cell)
            case datetime():
                return cell.isoformat(" ", "milliseconds" if cell.microsecond else "seconds")
            case date():
                gap = timedelta(days=cell < date(1900, 3, 1))
                return (cell - gap).isoformat()


READERS: tuple[Reader, ...] = (Openpyxl(), LibreOffice(), Calamine())
