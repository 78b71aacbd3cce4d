//! The child process that reads a spreadsheet: our own binary under another first argument.
//!
//! It limits itself before it looks at the file, because what is in the file may be meant to take all
//! there is. It has no environment, no runtime and no log; it knows a file as its standard input, its
//! limits as arguments, and tells what it finds on its standard output.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit,
};

use super::frames::Sender;
use super::{Limits, Wanted, workbook};
use crate::error::{Error, Result};

/// The first argument of a child …
const COMMAND: &str = "read-spreadsheet";
/// … and of one that reads the head alone.
const HEAD_COMMAND: &str = "read-spreadsheet-head";
/// Arguments: parent, columns, text, inflated, milliseconds, and perhaps the sheet.
const ARGUMENTS: usize = 5;

/// Address space of a child that has read nothing yet: the program, its stack, buffers.
const BASE: u64 = 256 << 20;
/// What a byte of shared texts may take once it is read: the shortest texts take most, a header and
/// an allocation each, in a list that doubles.
const PER_TEXT: u64 = 12;
/// Processor time beyond the limit: the parent looks at the clock first, and says so.
const GRACE: u64 = 2;
/// Files that a child may have open.
const FILES: u64 = 16;

/// The exit status for arguments that are none.
const USAGE: u8 = 2;

/// Runs as the child, if the arguments say so; `None` where this is the program itself.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let command = arguments.next()?;
    let head = command == HEAD_COMMAND;
    if !head && command != COMMAND {
        return None;
    }
    let arguments: Vec<_> = arguments.collect();
    Some(match Order::parse(head, &arguments) {
        Some(order) => run(&order),
        None => ExitCode::from(USAGE),
    })
}

/// What the parent wants.
#[derive(Debug)]
pub(super) struct Order {
    /// The process that is served; without it there is nothing to do.
    pub(super) parent: u32,
    /// Whether the head of the file is enough.
    pub(super) head: bool,
    pub(super) limits: Limits,
    pub(super) wanted: Wanted,
}

impl Order {
    /// The arguments that say so.
    pub(super) fn arguments(&self) -> Vec<String> {
        let numbers = [
            u64::from(self.parent),
            u64::from(self.limits.columns),
            self.limits.text,
            self.limits.inflated,
            u64::try_from(self.limits.time.as_millis()).unwrap_or(u64::MAX),
        ];
        // An argument cannot hold it, and neither can the name of a sheet.
        let sheet = self.wanted.sheet.iter().map(|sheet| sheet.replace('\0', "\u{FFFD}"));
        let command = if self.head { HEAD_COMMAND } else { COMMAND };
        [command.to_owned()]
            .into_iter()
            .chain(numbers.map(|n| n.to_string()))
            .chain(sheet)
            .collect()
    }

    fn parse(head: bool, arguments: &[OsString]) -> Option<Self> {
        let (numbers, rest) = arguments.split_at_checked(ARGUMENTS)?;
        let number = |at: usize| numbers[at].to_str()?.parse::<u64>().ok();
        let sheet = match rest {
            [] => None,
            [sheet] => Some(sheet.to_str()?.to_owned()),
            _ => return None,
        };
        Some(Self {
            parent: u32::try_from(number(0)?).ok()?,
            head,
            limits: Limits {
                columns: u32::try_from(number(1)?).ok()?,
                text: number(2)?,
                inflated: number(3)?,
                time: Duration::from_millis(number(4)?),
            },
            wanted: Wanted { sheet },
        })
    }
}

fn run(order: &Order) -> ExitCode {
    // A panic is a file's fault here, and said so by the parent.
    std::panic::set_hook(Box::new(|_| {}));
    let read = catch_unwind(AssertUnwindSafe(|| {
        confine(order).map_err(|error| Error::internal("limiting a process", error))?;
        read(order)
    }));
    match read {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// Limits this process for good.
fn confine(order: &Order) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may be gone already, and then nobody is told.
    let parent = getppid().map(Pid::as_raw_nonzero).map(std::num::NonZero::get);
    if parent.and_then(|pid| u32::try_from(pid).ok()) != Some(order.parent) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let memory = order.limits.text.saturating_mul(PER_TEXT).saturating_add(BASE);
    let time = order.limits.time.as_secs().saturating_add(GRACE);
    let limits = [
        (Resource::As, memory),
        (Resource::Cpu, time),
        (Resource::Core, 0),
        (Resource::Nofile, FILES),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

fn read(order: &Order) -> Result<()> {
    let opened = |error| Error::internal("opening what a process was given", error);
    let file = io::stdin().as_fd().try_clone_to_owned().map_err(opened)?;
    let out = io::stdout().as_fd().try_clone_to_owned().map_err(opened)?;
    let mut sender = Sender::new(File::from(out));
    let file = Arc::new(File::from(file));
    // What was sent before a panic is cut off by it, and known to be.
    let read = workbook::read(file, order.head, &order.wanted, &order.limits, &mut sender);
    sender.end(read)
}
