//! What surrounds the parts, read by a library.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use ::zip::ZipArchive;

use crate::archive::{Directory, Open};
use crate::formats::xlsx::poured::repeats::{Piece, Repeats};

fn add(directory: &mut Directory, path: &str, content: &str, out: &mut Vec<u8>) {
    let mut open = Open::begin(path.into(), out);
    let mut packed = Vec::new();
    let mut repeats = Repeats::new(2);
    repeats.write(&Piece { bytes: content.into(), marks: Vec::new() }, &mut packed);
    repeats.finish(&mut packed);
    open.count(content.as_bytes(), packed.len());
    out.append(&mut packed);
    directory.close(open, out).unwrap();
}

#[test]
fn parts_come_back_as_they_were_and_bear_the_first_day() {
    let mut out = Vec::new();
    let mut directory = Directory::default();
    add(&mut directory, "a.xml", "<a/>", &mut out);
    add(&mut directory, "xl/b.xml", &"<b>1</b>".repeat(9_000), &mut out);
    add(&mut directory, "empty", "", &mut out);
    directory.write(&mut out);
    let mut archive = ZipArchive::new(Cursor::new(out)).unwrap();
    let names: Vec<_> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["a.xml", "xl/b.xml", "empty"]);
    for (place, content) in
        ["<a/>".into(), "<b>1</b>".repeat(9_000), String::new()].iter().enumerate()
    {
        let mut entry = archive.by_index(place).unwrap();
        let mut read = String::new();
        entry.read_to_string(&mut read).unwrap();
        assert_eq!((&read, entry.size()), (content, content.len() as u64));
        assert_eq!(entry.last_modified().unwrap().to_string(), "1980-01-01 00:00:00");
    }
}

/// An archive of which a long stretch is not there.
struct Sparse {
    before: Vec<u8>,
    hole: u64,
    after: Vec<u8>,
    at: u64,
}

impl Read for Sparse {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (first, last) = (self.before.len() as u64, self.before.len() as u64 + self.hole);
        let read = if self.at < first {
            (&self.before[usize::try_from(self.at).unwrap()..]).read(buffer)?
        } else if self.at < last {
            let length = buffer.len().min(usize::try_from(last - self.at).unwrap());
            buffer[..length].fill(0);
            length
        } else {
            let at = usize::try_from(self.at - last).unwrap().min(self.after.len());
            (&self.after[at..]).read(buffer)?
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let length = self.before.len() as u64 + self.hole + self.after.len() as u64;
        let place = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[test]
fn parts_beyond_4_gib_are_found() {
    let (hole, third) = (3 << 30, "<c/>".repeat(100));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut directory = Directory::default();
    add(&mut directory, "first", "<a/>", &mut before);
    // Two parts that are only counted, with nothing before their data.
    for path in ["large", "larger"] {
        let mut open = Open::begin(path.into(), &mut Vec::new());
        open.count(b"", hole / 2);
        directory.close(open, &mut Vec::new()).unwrap();
    }
    let skipped = 2 * (30 + 16) + "large".len() + "larger".len();
    let mut open = Open::begin("largest".into(), &mut Vec::new());
    open.count(b"", hole);
    directory.close(open, &mut Vec::new()).unwrap();
    let skipped = skipped + 30 + 16 + "largest".len();
    add(&mut directory, "third", &third, &mut after);
    directory.write(&mut after);
    let hole = (2 * hole + skipped) as u64;
    assert!(hole > 1 << 32);
    let mut archive = ZipArchive::new(Sparse { before, hole, after, at: 0 }).unwrap();
    assert_eq!(archive.len(), 5);
    for (path, content) in [("first", "<a/>"), ("third", &third)] {
        let mut read = String::new();
        archive.by_name(path).unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, content, "{path}");
    }
}

#[test]
fn a_part_of_4_gib_is_refused() {
    let mut open = Open::begin("large".into(), &mut Vec::new());
    open.count(b"", u32::MAX as usize);
    let error = Directory::default().close(open, &mut Vec::new()).unwrap_err();
    assert_eq!(error.code(), "internal");
}
