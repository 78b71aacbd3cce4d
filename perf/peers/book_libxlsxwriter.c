/* Writes the settlement lines of an SQLite file as a workbook by libxlsxwriter, in constant memory, with what
 * the report shows: a header on every sheet, bold, frozen and filtered, widths, number formats, times of
 * Seoul.
 *
 * Arguments: the database's file, the workbook to make, how many lines. */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

#define COLUMNS 14
#define PAID_AT 12
#define SETTLE_ON 13
#define SHEET_ROWS 1048576

static const char *const KEYS[COLUMNS] = {
    "id",     "merchant_id", "merchant_name", "order_no", "product", "kind", "method",
    "status", "gross",       "fee",           "vat",      "net",     "paid_at", "settle_on"};
static const double WIDTHS[COLUMNS] = {12, 12, 24, 22, 28, 10, 12, 12, 14, 12, 12, 14, 20, 12};
static const char *const LOOKS[COLUMNS] = {
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "#,##0", "#,##0", "#,##0", "#,##0",
    "yyyy-mm-dd hh:mm:ss.000", "yyyy-mm-dd"};

static lxw_format *formats[COLUMNS];
static lxw_format *bold;

static lxw_worksheet *begin(lxw_workbook *book) {
    lxw_worksheet *sheet = workbook_add_worksheet(book, NULL);
    worksheet_freeze_panes(sheet, 1, 0);
    for (int column = 0; column < COLUMNS; column++) {
        worksheet_set_column(sheet, column, column, WIDTHS[column], formats[column]);
        worksheet_write_string(sheet, 0, column, KEYS[column], bold);
    }
    return sheet;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    sqlite3 *database;
    if (sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) return 1;
    lxw_workbook_options options = {.constant_memory = LXW_TRUE};
    lxw_workbook *book = workbook_new_opt(arguments[2], &options);
    bold = workbook_add_format(book);
    format_set_bold(bold);
    for (int column = 0; column < COLUMNS; column++) {
        if (LOOKS[column]) {
            formats[column] = workbook_add_format(book);
            format_set_num_format(formats[column], LOOKS[column]);
        }
    }
    sqlite3_stmt *lines;
    if (sqlite3_prepare_v2(database,
                           "SELECT * FROM settlement_lines ORDER BY paid_at, id LIMIT ?", -1, &lines,
                           NULL) != SQLITE_OK)
        return 1;
    sqlite3_bind_int64(lines, 1, atoll(arguments[3]));
    lxw_worksheet *sheet = begin(book);
    lxw_row_t at = 0;
    while (sqlite3_step(lines) == SQLITE_ROW) {
        if (++at == SHEET_ROWS) {
            worksheet_autofilter(sheet, 0, 0, at - 1, COLUMNS - 1);
            sheet = begin(book);
            at = 1;
        }
        for (int column = 0; column < COLUMNS; column++) {
            const char *text = (const char *)sqlite3_column_text(lines, column);
            if (!text) continue;
            if (column == PAID_AT || column == SETTLE_ON) {
                lxw_datetime day = {0};
                sscanf(text, "%d-%d-%d%*c%d:%d:%lf", &day.year, &day.month, &day.day, &day.hour,
                       &day.min, &day.sec);
                double number = lxw_datetime_to_excel_date_epoch(&day, 0);
                if (column == PAID_AT) number += 9.0 / 24.0;
                worksheet_write_number(sheet, at, column, number, formats[column]);
            } else if (sqlite3_column_type(lines, column) == SQLITE_INTEGER) {
                worksheet_write_number(sheet, at, column, (double)sqlite3_column_int64(lines, column),
                                       formats[column]);
            } else {
                worksheet_write_string(sheet, at, column, text, formats[column]);
            }
        }
    }
    worksheet_autofilter(sheet, 0, 0, at, COLUMNS - 1);
    return workbook_close(book) == LXW_NO_ERROR ? 0 : 1;
}
