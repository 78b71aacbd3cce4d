//! Counts rows and adds up one column while a body streams by, without taking the body apart any
//! further and without the server's own code.

use crate::error::{Error, Result};

/// What a body was found to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Rows, without a header.
    pub(crate) rows: u64,
    /// The sum of the column; nulls count nothing.
    pub(crate) sum: i128,
}

/// Reads a body in pieces of any size.
pub(crate) trait Scanner {
    /// Takes the next piece.
    fn feed(&mut self, bytes: &[u8]);

    /// What was found.
    ///
    /// # Errors
    /// A cell of the column that is no whole number, or a body that ends inside a row.
    fn finish(&mut self) -> Result<Counted>;
}

/// Objects, one a line or in an array, and the numbers under one key.
#[derive(Debug)]
pub(crate) struct Objects {
    /// `"key":`, which cannot stand inside a string: its second quote would be escaped there.
    needle: Vec<u8>,
    matched: usize,
    cell: Option<Cell>,
    depth: u32,
    quoted: bool,
    escaped: bool,
    rows: u64,
    sum: Sum,
}

/// The sum of whole numbers, given as text.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    total: i128,
    odd: Option<String>,
}

#[derive(Debug, Default)]
struct Cell(Vec<u8>);

/// No whole number of 64 bits is longer, and what is longer is none.
const LONGEST_CELL: usize = 40;

impl Cell {
    fn push(&mut self, byte: u8) {
        if self.0.len() < LONGEST_CELL {
            self.0.push(byte);
        }
    }
}

impl Sum {
    /// Adds a cell, unless it is written like one without a value.
    pub(crate) fn add(&mut self, cell: &[u8], null: &[u8]) {
        if cell == null {
            return;
        }
        let text = String::from_utf8_lossy(cell);
        match text.parse::<i64>() {
            Ok(number) => self.total += i128::from(number),
            Err(_) => self.odd = Some(text.into_owned()),
        }
    }

    /// The sum, with the rows that it is of.
    ///
    /// # Errors
    /// A cell that is no whole number of 64 bits.
    pub(crate) fn finish(&self, rows: u64) -> Result<Counted> {
        match &self.odd {
            None => Ok(Counted { rows, sum: self.total }),
            Some(odd) => Err(Error::new(format!("\"{odd}\" is no whole number"))),
        }
    }
}

impl Objects {
    pub(crate) fn new(key: &str) -> Self {
        Self {
            needle: format!("\"{key}\":").into_bytes(),
            matched: 0,
            cell: None,
            depth: 0,
            quoted: false,
            escaped: false,
            rows: 0,
            sum: Sum::default(),
        }
    }

    fn step(&mut self, byte: u8) {
        if let Some(cell) = &mut self.cell {
            if matches!(byte, b',' | b'}') {
                self.sum.add(&cell.0, b"null");
                self.cell = None;
            } else {
                cell.push(byte);
            }
        }
        self.nest(byte);
        self.search(byte);
    }

    fn nest(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b'{' => {
                self.rows += u64::from(self.depth == 0);
                self.depth += 1;
            }
            b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn search(&mut self, byte: u8) {
        if byte != self.needle[self.matched] {
            // The needle repeats itself in its quote alone.
            self.matched = usize::from(byte == b'"');
            return;
        }
        self.matched += 1;
        if self.matched == self.needle.len() {
            self.matched = 0;
            self.cell = Some(Cell::default());
        }
    }
}

impl Scanner for Objects {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn finish(&mut self) -> Result<Counted> {
        if self.depth > 0 || self.quoted {
            return Err(Error::new("the body ends inside an object"));
        }
        self.sum.finish(self.rows)
    }
}

/// RFC 4180 with a header, and one column by its place.
#[derive(Debug)]
pub(crate) struct Records {
    wanted: usize,
    column: usize,
    cell: Cell,
    /// Inside quotes; a quote inside them leaves and comes back at once.
    quoted: bool,
    begun: bool,
    ended: u64,
    sum: Sum,
}

impl Records {
    pub(crate) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            column: 0,
            cell: Cell::default(),
            quoted: false,
            begun: false,
            ended: 0,
            sum: Sum::default(),
        }
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b'"' => self.quoted = !self.quoted,
            b',' if !self.quoted => {
                self.end_cell();
                self.column += 1;
            }
            b'\n' if !self.quoted => {
                self.end_cell();
                self.ended += 1;
                self.column = 0;
                self.begun = false;
                return;
            }
            b'\r' if !self.quoted => {}
            byte if self.column == self.wanted => self.cell.push(byte),
            _ => {}
        }
        self.begun = true;
    }

    fn end_cell(&mut self) {
        if self.column == self.wanted && self.ended > 0 {
            self.sum.add(&self.cell.0, b"");
        }
        self.cell.0.clear();
    }
}

impl Scanner for Records {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn finish(&mut self) -> Result<Counted> {
        if self.quoted || self.begun || self.ended == 0 {
            return Err(Error::new("the body ends inside a record"));
        }
        self.sum.finish(self.ended - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(mut scanner: impl Scanner, body: &str, piece: usize) -> Result<Counted> {
        body.as_bytes().chunks(piece).for_each(|piece| scanner.feed(piece));
        scanner.finish()
    }

    #[test]
    fn objects_are_counted_and_added_up_however_the_body_is_cut() {
        let lines =
            "{\"net\":5,\"a\":\"{\\\"net\\\":9}\"}\n{\"a\":{\"b\":1},\"net\":-7}\n{\"net\":null}\n";
        let array = format!("[\n{}\n]\n", lines.trim_end().replace("}\n", "},\n"));
        for piece in 1..lines.len() {
            for body in [lines, array.as_str()] {
                let counted = scan(Objects::new("net"), body, piece).unwrap();
                assert_eq!(counted, Counted { rows: 3, sum: -2 });
            }
        }
    }

    #[test]
    fn records_are_counted_and_added_up_however_the_body_is_cut() {
        let body = "name,\"net, of all\",x\r\n\"a \"\"b\"\",\r\n1\",5,\r\n,\"-7\",2\r\n\"\",,3\r\n";
        for piece in 1..body.len() {
            let counted = scan(Records::new(1), body, piece).unwrap();
            assert_eq!(counted, Counted { rows: 3, sum: -2 });
        }
    }

    #[test]
    fn no_rows_are_none() {
        let none = Counted { rows: 0, sum: 0 };
        assert_eq!(scan(Objects::new("net"), "", 1).unwrap(), none);
        assert_eq!(scan(Objects::new("net"), "[]\n", 1).unwrap(), none);
        assert_eq!(scan(Records::new(0), "net\r\n", 1).unwrap(), none);
    }

    #[test]
    fn what_is_cut_off_or_no_whole_number_is_an_error() {
        assert!(scan(Objects::new("net"), "{\"net\":1}\n{\"net\":", 4).is_err());
        assert!(scan(Objects::new("net"), "{\"net\":1.5}\n", 4).is_err());
        assert!(scan(Objects::new("net"), "{\"net\":\"1\"}\n", 4).is_err());
        assert!(scan(Records::new(0), "net\r\n1", 4).is_err());
        assert!(scan(Records::new(0), "net\r\nx\r\n", 4).is_err());
    }
}
