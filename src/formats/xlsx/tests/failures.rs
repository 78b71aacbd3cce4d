//! Disks that are full, receivers that have gone: an error each time, and never a whole book.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use super::{by, column, is_empty, utc};
use crate::error::{Error, Result};
use crate::formats::xlsx::XlsxEncoder;
use crate::formats::xlsx::quiet::{caught, hush_full_disks};
use crate::formats::{Options, XlsxWriter};
use crate::rows::{Encoder, Kind, Value};

fn into(out: &mut (dyn Write + Send), options: &Options, rows: usize) -> Result<()> {
    let mut encoder = XlsxEncoder::new(&[column("v", Kind::Text)], options);
    let mut before = Vec::new();
    encoder.begin(&mut before)?;
    // Hardly any two alike, so that there is something left to write after compression.
    for number in 0..rows {
        let text = format!("{:x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).repeat(3);
        encoder.row(&[Value::Text(&text)], &mut before)?;
    }
    out.write_all(&before).map_err(Error::writing)?;
    encoder.finish(out)
}

#[test]
fn a_directory_that_is_not_there_is_a_failure_before_the_first_row() {
    let options = Options { temp_dir: "/nowhere/at all".into(), ..utc() };
    let options = by(XlsxWriter::Library, &options);
    let mut encoder = XlsxEncoder::new(&[column("v", Kind::Text)], &options);
    let error = encoder.begin(&mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Internal { .. }), "{error}");
}

#[test]
fn more_columns_than_a_sheet_has_are_refused_with_words() {
    let columns: Vec<_> = (0..16_385).map(|n| column(&n.to_string(), Kind::Int)).collect();
    let error = XlsxEncoder::new(&columns, &utc()).begin(&mut Vec::new()).unwrap_err();
    assert_eq!(error.code(), "too_large");
    assert!(error.detail().contains("16384 columns at most"), "{}", error.detail());
}

/// Takes so many bytes and no more.
struct Small {
    taken: Vec<u8>,
    room: usize,
    error: fn() -> io::Error,
}

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.taken.len() + bytes.len() > self.room {
            return Err((self.error)());
        }
        self.taken.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The record without which nothing opens an archive.
fn is_whole(archive: &[u8]) -> bool {
    archive.windows(4).any(|window| window == b"PK\x05\x06")
}

#[test]
fn a_receiver_that_takes_no_more_ends_the_book_with_its_own_error() {
    for writer in XlsxWriter::ALL {
        ends_with_its_error(&by(writer, &utc()));
    }
}

fn ends_with_its_error(options: &Options) {
    let mut whole = Vec::new();
    into(&mut whole, options, 30_000).unwrap();
    assert!(is_whole(&whole) && whole.len() > 400_000, "{}", whole.len());
    let full: fn() -> io::Error = || io::Error::from(ErrorKind::StorageFull);
    let cancelled: fn() -> io::Error = || io::Error::other(Error::Cancelled);
    for (room, error, code) in [
        (0, full, "no_space"),
        (200_000, full, "no_space"),
        (200_000, cancelled, "cancelled"),
        (whole.len() - 1, full, "no_space"),
    ] {
        let mut small = Small { taken: Vec::new(), room, error };
        assert_eq!(into(&mut small, options, 30_000).unwrap_err().code(), code);
        assert!(!is_whole(&small.taken), "{room}");
    }
}

#[test]
fn of_what_the_library_panics_with_a_full_disk_alone_is_not_told_as_a_crash() {
    static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        HEARD.lock().unwrap().extend(panic.payload_as_str().map(str::to_owned));
        before(panic);
    }));
    hush_full_disks();
    let full = "called `Result::unwrap()` on an `Err` value: Os { kind: StorageFull }";
    assert!(caught(|| panic!("{full}")).is_err());
    assert!(caught(|| panic!("a fault of the library's own")).is_err());
    assert!(caught(|| caught(|| 1).unwrap()).is_ok());
    assert!(std::panic::catch_unwind(|| panic!("elsewhere: {full}")).is_err());
    let heard = HEARD.lock().unwrap();
    let ours: Vec<_> =
        heard.iter().filter(|words| words.contains("own") || words.contains(full)).collect();
    assert_eq!(ours, ["a fault of the library's own", &format!("elsewhere: {full}")]);
}

/// A file system in memory, for as long as this lives.
struct Volume(tempfile::TempDir);

impl Volume {
    /// `None` where we may not mount.
    fn of(size: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(directory.path())
            .output();
        mount.is_ok_and(|mount| mount.status.success()).then_some(Self(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[test]
fn a_full_disk_is_said_to_be_full_and_holds_nothing_afterwards() {
    let Some(volume) = Volume::of("256k") else {
        let _ = writeln!(io::stderr(), "not tested: only root may mount a small file system");
        return;
    };
    let options = Options { temp_dir: volume.path().into(), ..utc() };
    let options = by(XlsxWriter::Library, &options);
    let mut out = Vec::new();
    // Full among the rows, and, in steps smaller than a buffer, when the last are flushed at the end.
    for rows in [20_000, 2_400, 2_500, 2_600, 2_700, 2_800] {
        out.clear();
        match into(&mut out, &options, rows) {
            Ok(()) => assert!(is_whole(&out)),
            Err(error) => {
                assert_eq!(error.code(), "no_space", "{rows}: {error}");
                assert!(!is_whole(&out));
            }
        }
        assert!(is_empty(volume.path()));
        into(&mut Vec::new(), &options, 10).unwrap();
    }
    assert_eq!(into(&mut Vec::new(), &options, 20_000).unwrap_err().code(), "no_space");
}

#[test]
fn a_poured_book_that_is_given_up_has_no_directory_and_leaves_no_thread() {
    let mut encoder = XlsxEncoder::new(&[column("v", Kind::Int)], &utc());
    let mut out = Vec::new();
    encoder.begin(&mut out).unwrap();
    for number in 0..50_000 {
        encoder.row(&[Value::Int(number)], &mut out).unwrap();
    }
    assert!(out.len() > 10_000 && !is_whole(&out));
    // Waits for the thread.
    drop(encoder);
}
