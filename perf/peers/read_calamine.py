"""Reads every cell of a workbook by python-calamine and does nothing with it.

Argument: the workbook. Prints the rows and the cells that hold something.
"""

import sys

import python_calamine

book = python_calamine.CalamineWorkbook.from_path(sys.argv[1])
rows = cells = 0
for name in book.sheet_names:
    for row in book.get_sheet_by_name(name).iter_rows():
        rows += 1
        cells += sum(value != "" for value in row)
print(rows, cells)
