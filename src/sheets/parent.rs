//! The side of a spreadsheet's reading that stays here: starts the child, takes its messages, watches
//! the clock and the stop token, and always sees the child gone before it comes back.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::at::At;
use super::child::Order;
use super::frames::{self, Message, Told};
use super::wire::decode_row;
use super::{Outline, Reader, Remark, SheetSink, Wanted, fault};
use crate::error::{Error, Result};
use crate::runs::Stop;

/// How often the stop token is looked at while the child says nothing.
const LOOK: Duration = Duration::from_millis(50);
/// How long a child that has closed its output may take to end.
const LAST: Duration = Duration::from_secs(1);
/// What a pipe may hold, so that the child goes on while the sink works.
const PIPE: usize = 1 << 20;
/// How many bytes are taken together.
const TAKEN: usize = 256 * 1024;

/// Reads a spreadsheet through a child process.
///
/// # Errors
/// What the child found, what became of it, the sink's own, and the stop token's.
pub(super) fn read(
    reader: &Reader,
    at: &At,
    head: bool,
    wanted: &Wanted,
    stop: &Stop,
    sink: &mut dyn SheetSink,
) -> Result<Vec<Remark>> {
    let file = at.file().try_clone().map_err(super::sniff::reading)?;
    let parent = std::process::id();
    let order = Order { parent, head, limits: reader.limits, wanted: wanted.clone() };
    let mut child = Running::start(reader, &order, file)?;
    let mut told = Listening { wanted, stop, sink, remarks: Vec::new(), rows: 0, ended: false };
    let mut left = reader.limits.time;
    let mut arrived = Vec::new();
    while !told.ended {
        told.sink.idle();
        let begun = Instant::now();
        let more = child.listen(left.min(LOOK), &mut arrived)?;
        left = left.saturating_sub(begun.elapsed());
        stop.check()?;
        match more {
            Heard::Nothing if left.is_zero() => return Err(too_slow(reader.limits.time)),
            Heard::Nothing => {}
            Heard::Bytes => told.take(&mut arrived)?,
            Heard::End => return Err(child.fate(reader.limits.time)),
        }
    }
    // It has said its last word, and whether it ends by itself is all the same.
    Ok(told.remarks)
}

/// What came of listening for a while.
enum Heard {
    Nothing,
    Bytes,
    End,
}

/// A child that is killed and reaped when this goes, however it goes.
struct Running {
    child: Child,
    out: ChildStdout,
    done: bool,
}

impl Running {
    fn start(reader: &Reader, order: &Order, file: std::fs::File) -> Result<Self> {
        let failed =
            |error| Error::internal("starting the process that reads a spreadsheet", error);
        let mut child = Command::new(&reader.program)
            .args(order.arguments())
            .env_clear()
            // A key pressed in our terminal is for us to heed.
            .process_group(0)
            .stdin(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let Some(out) = child.stdout.take() else {
            // Cannot be: it was asked for. Nothing may be left behind even so.
            let _ = child.kill();
            let _ = child.wait();
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        // A smaller pipe is slower, and no more.
        let _ = rustix::pipe::fcntl_setpipe_size(&out, PIPE);
        Ok(Self { child, out, done: false })
    }

    /// Waits for bytes for at most this long, and appends them.
    fn listen(&mut self, most: Duration, arrived: &mut Vec<u8>) -> Result<Heard> {
        let failed = |error: std::io::Error| Error::internal("listening to a process", error);
        let most = Timespec::try_from(most)
            .map_err(|error| Error::internal("waiting for a process", error))?;
        let mut ready = [PollFd::new(&self.out, PollFlags::IN)];
        match poll(&mut ready, Some(&most)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Heard::Nothing),
            Ok(_) => {}
            Err(error) => return Err(failed(error.into())),
        }
        let before = arrived.len();
        arrived.resize(before + TAKEN, 0);
        let read = self.out.read(&mut arrived[before..]);
        arrived.truncate(before + read.as_ref().map_or(0, |read| *read));
        match read {
            Ok(0) => Ok(Heard::End),
            Ok(_) => Ok(Heard::Bytes),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(Heard::Nothing),
            Err(error) => Err(failed(error)),
        }
    }

    /// Why a child ended before its last word.
    fn fate(&mut self, time: Duration) -> Error {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.done = true;
                    tracing::warn!(%status, "the process that reads a spreadsheet broke off");
                    return ended(status, time);
                }
                Ok(None) if begun.elapsed() < LAST => std::thread::sleep(LAST / 100),
                Ok(None) => return garbled("it stays, and says no more"),
                Err(error) => return Error::internal("waiting for a process", error),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.done {
            // It may have ended by itself; then only the waiting is left.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// What the end of a child says of the file.
fn ended(status: ExitStatus, time: Duration) -> Error {
    let signal = status.signal();
    let is = |one: Signal| signal == Some(one.as_raw());
    if is(Signal::TERM) || is(Signal::INT) || is(Signal::HUP) {
        Error::Unavailable {
            code: "reading_interrupted",
            detail: "the process that reads the file was stopped; send the file again".into(),
            source: None,
        }
    } else if is(Signal::XCPU) {
        too_slow(time)
    } else if is(Signal::ABORT) || is(Signal::KILL) {
        // Nobody here has killed it: the system does when memory is short.
        super::workbook::memory()
    } else {
        super::workbook::unreadable()
    }
}

fn too_slow(time: Duration) -> Error {
    fault::fault(
        fault::TIME,
        format!(
            "reading the file took longer than {} s; split it into several files, or save the sheet \
             as CSV, which is read faster",
            time.as_secs_f64()
        ),
    )
}

/// Passes messages on to a sink.
struct Listening<'a> {
    wanted: &'a Wanted,
    stop: &'a Stop,
    sink: &'a mut dyn SheetSink,
    remarks: Vec<Remark>,
    rows: u64,
    ended: bool,
}

impl Listening<'_> {
    /// Takes the messages that have arrived whole.
    fn take(&mut self, arrived: &mut Vec<u8>) -> Result<()> {
        let mut taken = 0;
        while let Some(message) = frames::first(&arrived[taken..]).map_err(garbled)? {
            taken += message.length;
            self.message(&message)?;
        }
        arrived.drain(..taken);
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>) -> Result<()> {
        let body = message.body;
        match message.kind {
            frames::OUTLINE => {
                let outline: Outline = serde_json::from_slice(body).map_err(garbled)?;
                self.sink.begin(&outline)
            }
            frames::ROWS => self.give(body),
            frames::REMARK => {
                let remark: Remark = serde_json::from_slice(body).map_err(garbled)?;
                self.sink.remark(&remark)?;
                self.remarks.push(remark);
                Ok(())
            }
            frames::FAULT => {
                let Told { code, detail } = serde_json::from_slice(body).map_err(garbled)?;
                Err(fault::from_child(&code, detail, self.wanted.sheet.as_deref()))
            }
            frames::END if body == self.rows.to_le_bytes() => {
                self.ended = true;
                Ok(())
            }
            _ => Err(garbled("a message that is none")),
        }
    }

    fn give(&mut self, mut body: &[u8]) -> Result<()> {
        let mut cells = Vec::new();
        while !body.is_empty() {
            let number = decode_row(&mut body, &mut cells).map_err(garbled)?;
            self.rows += 1;
            self.stop.check()?;
            self.sink.row(number, &cells)?;
        }
        Ok(())
    }
}

fn garbled(error: impl Into<crate::error::Cause>) -> Error {
    Error::internal("understanding the process that reads a spreadsheet", error)
}
