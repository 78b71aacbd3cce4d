// Writes the settlement lines as a workbook by ExcelJS's streaming writer, with what the report shows: a
// header on every sheet, bold, frozen and filtered, widths, number formats, times of Seoul.
//
// Arguments: the lines as NDJSON, as the report gives them; the workbook to make. Node has no SQLite of its
// own, so it reads lines from a file, which takes it a few percent of its time.

import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const ExcelJS = createRequire(process.cwd() + "/")("exceljs");
const SHEET_ROWS = 1_048_576;
const SEOUL = 9 * 3_600_000;
const MONEY = "#,##0";
const COLUMNS = [
  ["id", 12], ["merchant_id", 12], ["merchant_name", 24], ["order_no", 22], ["product", 28],
  ["kind", 10], ["method", 12], ["status", 12], ["gross", 14, MONEY], ["fee", 12, MONEY],
  ["vat", 12, MONEY], ["net", 14, MONEY], ["paid_at", 20, "yyyy-mm-dd hh:mm:ss.000"],
  ["settle_on", 12, "yyyy-mm-dd"],
];

function begin(book) {
  const sheet = book.addWorksheet(undefined, {
    views: [{ state: "frozen", ySplit: 1 }],
  });
  sheet.autoFilter = { from: { row: 1, column: 1 }, to: { row: 1, column: COLUMNS.length } };
  sheet.columns = COLUMNS.map(([key, width, numFmt]) => ({ header: key, width, style: { numFmt } }));
  sheet.getRow(1).font = { bold: true };
  sheet.getRow(1).commit();
  return sheet;
}

const [lines, filename] = process.argv.slice(2);
const book = new ExcelJS.stream.xlsx.WorkbookWriter({ filename, useStyles: true });
let sheet = begin(book);
let rows = 1;
for await (const line of createInterface({ input: createReadStream(lines) })) {
  if (rows === SHEET_ROWS) {
    sheet.commit();
    sheet = begin(book);
    rows = 1;
  }
  const values = JSON.parse(line);
  values.paid_at = new Date(Date.parse(values.paid_at) + SEOUL);
  values.settle_on = new Date(values.settle_on);
  sheet.addRow(COLUMNS.map(([key]) => values[key])).commit();
  rows += 1;
}
sheet.commit();
await book.commit();
