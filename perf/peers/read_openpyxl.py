"""Reads every cell of a workbook by openpyxl in its read-only mode and does nothing with it.

Argument: the workbook. Prints the rows and the cells that hold something.
"""

import sys

import openpyxl

book = openpyxl.load_workbook(sys.argv[1], read_only=True)
rows = cells = 0
for sheet in book.worksheets:
    for row in sheet.iter_rows(values_only=True):
        rows += 1
        cells += sum(value is not None for value in row)
print(rows, cells)
