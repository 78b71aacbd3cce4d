"""Mends a workbook of rows that were handed back, as a person with a spreadsheet program does.

    mend.py HANDED_BACK MENDED VALUES

Every cell whose paper has the colour of a fault gets the value that VALUES, a JSON object, has for the
heading above it; `{row}` in a text becomes the number of the row. Nothing else is touched. Prints the
cells as a JSON array of [row, heading, what stood there].

Exit status 3 where openpyxl is not installed.
"""

import json
import sys

try:
    from openpyxl import load_workbook
except ImportError:
    print("openpyxl is not installed: pip install openpyxl", file=sys.stderr)
    sys.exit(3)

AT_FAULT = "FFFFC7CE"


def main() -> None:
    handed_back, mended, values = sys.argv[1:]
    values = json.loads(values)
    book = load_workbook(handed_back)
    found = []
    for sheet in book:
        headings = [cell.value for cell in sheet[1]]
        for row in sheet.iter_rows(min_row=2):
            for cell in row:
                if cell.fill.patternType != "solid" or cell.fill.fgColor.rgb != AT_FAULT:
                    continue
                heading = headings[cell.column - 1]
                found.append([cell.row, heading, cell.value])
                value = values[heading]
                cell.value = value.format(row=cell.row) if isinstance(value, str) else value
    book.save(mended)
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main()
