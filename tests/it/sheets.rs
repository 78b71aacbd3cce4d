//! Spreadsheets through the real child process: what it may take, and that it is gone afterwards.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tallyroll::error::{Error, Problem, Result};
use tallyroll::runs::{Reason, Stop};
use tallyroll::sheets::{Cell, FileKind, Limits, Outline, Reader, Remark, SheetSink, Wanted};
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::support::xlsx;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tallyroll");
/// What is meant by at once.
const SOON: Duration = Duration::from_secs(1);

fn reader(time: Duration) -> Reader {
    let limits = Limits { columns: 1000, text: 64 << 20, inflated: 2 << 30, time };
    Reader { program: PROGRAM.into(), limits }
}

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// A workbook of one sheet, and with these shared strings, as a file.
fn book(sheet: &str, texts: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(&xlsx(sheet, texts)).expect("it can be written");
    file
}

/// A workbook that takes seconds to read.
fn long_book() -> tempfile::NamedTempFile {
    book(&"<row><c><v>1</v></c><c t=\"str\"><v>abc</v></c></row>".repeat(1_000_000), ">")
}

/// The child that reads with this time limit, which is in its arguments and no other test's.
fn child(time: Duration) -> Option<u32> {
    let wanted = time.as_millis().to_string();
    let processes = std::fs::read_dir("/proc").expect("processes can be listed");
    processes.flatten().find_map(|process| {
        let arguments = std::fs::read_to_string(process.path().join("cmdline")).ok()?;
        let mut arguments = arguments.split('\0').skip(1);
        let reads = arguments.next().is_some_and(|first| first.starts_with("read-spreadsheet"));
        (reads && arguments.any(|argument| argument == wanted))
            .then(|| process.file_name().to_str()?.parse().ok())?
    })
}

/// Whether a process is there, also as a zombie.
fn is_there(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Does something at a row, and knows the child that gave it.
struct At<F> {
    time: Duration,
    row: u64,
    does: F,
    child: Option<u32>,
    rows: u64,
    outline: Option<Outline>,
}

impl<F: FnMut(Option<u32>) -> Result<()>> At<F> {
    fn row(time: Duration, row: u64, does: F) -> Self {
        Self { time, row, does, child: None, rows: 0, outline: None }
    }

    fn gone(&self) {
        let child = self.child.expect("there was a child");
        assert!(!is_there(child), "no child, and no zombie");
    }
}

impl<F: FnMut(Option<u32>) -> Result<()>> SheetSink for At<F> {
    fn begin(&mut self, outline: &Outline) -> Result<()> {
        self.outline = Some(outline.clone());
        Ok(())
    }

    fn keys(&mut self, _keys: &[String]) -> Result<()> {
        panic!("a spreadsheet has no keys")
    }

    fn row(&mut self, number: u64, _cells: &[Cell<'_>]) -> Result<()> {
        self.rows += 1;
        if number == self.row {
            self.child = child(self.time);
            (self.does)(self.child)?;
        }
        Ok(())
    }
}

fn read(time: Duration, path: &Path, sink: &mut dyn SheetSink) -> Result<Vec<Remark>> {
    reader(time).read(path, &Wanted::default(), &Stop::new(), sink)
}

#[track_caller]
fn problem(read: Result<Vec<Remark>>) -> Problem {
    match read {
        Err(Error::Invalid(mut problems)) if problems.len() == 1 => problems.remove(0),
        other => panic!("it is refused, and not {other:?}"),
    }
}

#[test]
fn a_workbook_is_read_by_a_child_that_knows_nothing_and_is_gone_afterwards() {
    let time = Duration::from_millis(60_001);
    let environment = |child: Option<u32>| {
        let child = child.expect("a child reads");
        let environment = std::fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
        assert!(environment.is_empty(), "{}", String::from_utf8_lossy(&environment));
        Ok(())
    };
    let file = long_book();
    let mut sink = At::row(time, 1, environment);
    let remarks = read(time, file.path(), &mut sink).expect("it is read");
    assert_eq!((sink.rows, remarks.len()), (1_000_000, 0));
    sink.gone();
    let mut sink = At::row(time, 0, |_| Ok(()));
    let remarks = read(time, &fixture("sheets/book.ods"), &mut sink).expect("it is read");
    let codes: Vec<_> = remarks.iter().map(|remark| remark.code.as_str()).collect();
    assert_eq!(codes, ["hidden_sheets", "hidden_rows"]);
    assert_eq!(sink.outline.expect("told").kind, FileKind::Ods);
}

#[test]
fn a_file_that_has_no_name_any_more_is_read_as_well() {
    let time = Duration::from_millis(60_002);
    let file = book("<row><c><v>1</v></c></row>", ">").into_file();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
    let mut sink = At::row(time, 0, |_| Ok(()));
    read(time, Path::new(&path), &mut sink).expect("it is read");
    assert_eq!(sink.rows, 1);
}

#[test]
fn a_child_that_wants_all_the_memory_ends_alone() {
    let time = Duration::from_millis(60_003);
    for count in ["100000000000", "1000000000", "50000000"] {
        let file = book("<row><c><v>1</v></c></row>", &format!("uniqueCount=\"{count}\">"));
        let mut sink = At::row(time, 0, |_| Ok(()));
        let problem = problem(read(time, file.path(), &mut sink));
        assert_eq!(problem.code, "too_much_memory", "{}", problem.detail);
        assert!(problem.detail.contains("CSV"), "{}", problem.detail);
        assert!(child(time).is_none());
    }
}

#[test]
fn a_file_that_takes_too_long_is_given_up() {
    let time = Duration::from_millis(301);
    let begun = Instant::now();
    let file = long_book();
    let making = begun.elapsed();
    let mut sink = At::row(time, 0, |_| Ok(()));
    let problem = problem(read(time, file.path(), &mut sink));
    assert_eq!(problem.code, "too_slow", "{}", problem.detail);
    assert!(problem.detail.contains("0.301 s"), "{}", problem.detail);
    assert!(begun.elapsed() < making + SOON + time);
    assert!(child(time).is_none() && sink.rows < 1_000_000);
}

#[test]
fn the_time_that_the_sink_takes_is_not_the_files() {
    let time = Duration::from_millis(1_902);
    let file = book(&"<row><c><v>1</v></c></row>".repeat(10), ">");
    let mut sink = At::row(time, 5, |_| {
        std::thread::sleep(Duration::from_millis(2_500));
        Ok(())
    });
    read(time, file.path(), &mut sink).expect("it is read");
    assert_eq!(sink.rows, 10);
}

#[test]
fn a_child_is_gone_as_soon_as_its_run_is_stopped() {
    let time = Duration::from_millis(60_004);
    let file = long_book();
    let stop = Stop::new();
    let mut fired = None;
    let mut sink = At::row(time, 1000, |_| {
        fired = Some(Instant::now());
        stop.fire(Reason::Cancelled);
        Ok(())
    });
    let read = reader(time).read(file.path(), &Wanted::default(), &stop, &mut sink);
    assert!(matches!(read, Err(Error::Cancelled)), "{read:?}");
    sink.gone();
    assert!(sink.rows < 500_000);
    assert!(fired.expect("it was fired").elapsed() < SOON);
}

#[test]
fn a_stop_is_seen_also_while_the_child_says_nothing() {
    let time = Duration::from_millis(60_005);
    // A long way to the first row.
    let file = book(&"<row><c s=\"1\"/></row>".repeat(3_000_000), ">");
    let stop = Stop::new();
    let fired = std::thread::scope(|scope| {
        let timer = scope.spawn(|| {
            let begun = Instant::now();
            while child(time).is_none() && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.fire(Reason::Shutdown);
            Instant::now()
        });
        let mut sink = At::row(time, 0, |_| Ok(()));
        let read = reader(time).read(file.path(), &Wanted::default(), &stop, &mut sink);
        assert!(matches!(read, Err(Error::Unavailable { .. })), "{read:?}");
        timer.join().expect("it fires")
    });
    assert!(fired.elapsed() < SOON);
    assert!(child(time).is_none());
}

#[test]
fn a_child_is_gone_when_the_sink_has_had_enough() {
    let time = Duration::from_millis(60_006);
    let file = long_book();
    let mut sink = At::row(time, 1000, |_| Err(Error::internal("trying", "enough")));
    let read = read(time, file.path(), &mut sink);
    assert!(matches!(read, Err(Error::Internal { .. })), "{read:?}");
    assert_eq!(sink.rows, 1000, "nothing is given after a failure");
    sink.gone();
}

#[test]
fn the_head_of_a_sheet_is_read_though_what_comes_later_is_refused() {
    let time = Duration::from_millis(60_009);
    let row = "<row><c><v>1</v></c><c t=\"str\"><v>abc</v></c></row>";
    let rows = row.repeat((9 << 20) / row.len());
    let file = book(&format!("{rows}<!DOCTYPE a>{row}"), ">");
    let enough = |_| Err(Error::internal("trying", "enough"));
    let mut sink = At::row(time, 1000, enough);
    let (wanted, stop) = (Wanted::default(), Stop::new());
    let read_head = reader(time).read_head(file.path(), &wanted, &stop, &mut sink);
    assert!(matches!(read_head, Err(Error::Internal { .. })), "{read_head:?}");
    assert_eq!((sink.rows, sink.outline.is_some()), (1000, true));
    sink.gone();
    let mut sink = At::row(time, 1000, enough);
    assert_eq!(problem(read(time, file.path(), &mut sink)).code, "document_type");
    assert_eq!(sink.rows, 0);
}

#[test]
fn a_child_that_is_killed_is_no_end_of_the_file() {
    for (signal, code) in [
        ("KILL", "too_much_memory"),
        ("ABRT", "too_much_memory"),
        ("XCPU", "too_slow"),
        ("ILL", "unreadable_file"),
        ("TERM", "reading_interrupted"),
    ] {
        let time = Duration::from_millis(60_007);
        let file = long_book();
        let mut sink = At::row(time, 1000, |child| {
            let child = child.expect("a child reads");
            let kill = Command::new("kill").args(["-s", signal, &child.to_string()]).status();
            assert!(kill.is_ok_and(|status| status.success()));
            Ok(())
        });
        let read = read(time, file.path(), &mut sink);
        match read {
            Err(Error::Unavailable { code: is, .. }) => assert_eq!(is, code, "{signal}"),
            read => assert_eq!(problem(read).code, code, "{signal}"),
        }
        assert!(sink.rows < 1_000_000);
        sink.gone();
    }
}

#[test]
fn a_reader_that_panics_is_a_file_that_cannot_be_read() {
    // A sheet with a relationship that is not there.
    let unit = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let bundle = [&[0; 8][..], &[1, 0, 0, 0], &unit("r"), &[1, 0, 0, 0], &unit("a")].concat();
    let length = u8::try_from(bundle.len()).expect("short");
    let workbook = [&[0x9C, 0x01, length][..], &bundle, &[0x90, 0x01, 0x00]].concat();
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in [("[Content_Types].xml", &b"<Types/>"[..]), ("xl/workbook.bin", &workbook)]
    {
        archive.start_file(path, SimpleFileOptions::default()).expect("a part can begin");
        archive.write_all(bytes).expect("it can be written");
    }
    let bytes = archive.finish().expect("it can be finished").into_inner();
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(&bytes).expect("it can be written");
    let time = Duration::from_millis(60_008);
    let mut sink = At::row(time, 0, |_| Ok(()));
    let problem = problem(read(time, file.path(), &mut sink));
    assert_eq!(problem.code, "unreadable_file", "{}", problem.detail);
    assert!(problem.detail.contains("save it again as xlsx"), "{}", problem.detail);
}

#[test]
fn a_program_that_is_not_there_is_a_failure_of_ours() {
    let reader = Reader { program: "/no/such/program".into(), ..reader(SOON) };
    let mut sink = At::row(SOON, 0, |_| Ok(()));
    let book = fixture("sheets/book.xls");
    let read = reader.read(&book, &Wanted::default(), &Stop::new(), &mut sink);
    assert!(matches!(read, Err(Error::Internal { .. })), "{read:?}");
    let reader = Reader { program: "/bin/true".into(), ..reader };
    let read = reader.read(&book, &Wanted::default(), &Stop::new(), &mut sink);
    assert!(read.is_err(), "a child that says nothing is no empty file: {read:?}");
}

#[test]
fn a_child_serves_its_parent_and_nobody_else() {
    let run = |arguments: &[&str]| {
        let file = std::fs::File::open(fixture("sheets/book.xls")).expect("a fixture");
        let mut command = Command::new(PROGRAM);
        command.arg("read-spreadsheet").args(arguments).stdin(file).stderr(Stdio::null());
        command.output().expect("it runs")
    };
    let me = std::process::id().to_string();
    assert_eq!(run(&[&me, "1000", "1000000", "1000000", "1000"]).status.code(), Some(0));
    let other = run(&["1", "1000", "1000000", "1000000", "1000"]);
    assert_eq!((other.status.code(), other.stdout.len()), (Some(1), 0));
    for wrong in [&[][..], &["x"], &[&me, "1", "1", "1"], &[&me, "1", "1", "1", "1", "a", "b"]] {
        assert_eq!(run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}
