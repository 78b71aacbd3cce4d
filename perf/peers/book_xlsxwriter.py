"""Writes the settlement lines of an SQLite file as a workbook, with what the report shows: a header
on every sheet, bold, frozen and filtered, widths, number formats, times of Seoul.

Arguments: the database, the workbook to make, how many lines.
"""

import sqlite3
import sys
from datetime import date, datetime, timedelta

import xlsxwriter

SHEET_ROWS = 1_048_576
SEOUL = timedelta(hours=9)
MONEY, TIME, DATE = "#,##0", "yyyy-mm-dd hh:mm:ss.000", "yyyy-mm-dd"
COLUMNS = [
    ("id", 12, None), ("merchant_id", 12, None), ("merchant_name", 24, None),
    ("order_no", 22, None), ("product", 28, None), ("kind", 10, None), ("method", 12, None),
    ("status", 12, None), ("gross", 14, MONEY), ("fee", 12, MONEY), ("vat", 12, MONEY),
    ("net", 14, MONEY), ("paid_at", 20, TIME), ("settle_on", 12, DATE),
]


def begin(book, formats, bold):
    sheet = book.add_worksheet()
    sheet.freeze_panes(1, 0)
    for place, (key, width, look) in enumerate(COLUMNS):
        sheet.set_column(place, place, width, formats[look])
        sheet.write_string(0, place, key, bold)
    return sheet


def main(source, target, lines):
    book = xlsxwriter.Workbook(target, {"constant_memory": True})
    bold = book.add_format({"bold": True})
    formats = {look: book.add_format({"num_format": look}) for look in (MONEY, TIME, DATE)}
    formats[None] = None
    looks = [formats[look] for _, _, look in COLUMNS]
    rows = sqlite3.connect(f"file:{source}?mode=ro", uri=True).execute(
        "SELECT * FROM settlement_lines ORDER BY paid_at, id LIMIT ?", [int(lines)]
    )
    sheet, at = begin(book, formats, bold), 0
    for row in rows:
        at += 1
        if at == SHEET_ROWS:
            sheet.autofilter(0, 0, at - 1, len(COLUMNS) - 1)
            sheet, at = begin(book, formats, bold), 1
        for place in range(12):
            value = row[place]
            if isinstance(value, str):
                sheet.write_string(at, place, value)
            elif value is not None:
                sheet.write_number(at, place, value, looks[place])
        paid = datetime.fromisoformat(row[12]).replace(tzinfo=None) + SEOUL
        sheet.write_datetime(at, 12, paid, looks[12])
        sheet.write_datetime(at, 13, date.fromisoformat(row[13]), looks[13])
    sheet.autofilter(0, 0, at, len(COLUMNS) - 1)
    book.close()


main(*sys.argv[1:])
