//! Other people's programs: what they print, or how fast they print it.

use std::io::{ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Doing, Error, Result};

/// What a program printed.
#[derive(Debug)]
pub(crate) enum Printed<T> {
    /// It ran to a good end.
    Done(T),
    /// It is not installed.
    Missing,
}

/// What a program printed until its end, counted and thrown away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Poured {
    /// Bytes on its standard output.
    pub(crate) bytes: u64,
    /// From before its start until it was gone.
    pub(crate) whole: Duration,
}

/// Runs a program and gives what it prints, trimmed.
///
/// # Errors
/// A program that fails, with its own words.
pub(crate) fn text(command: &mut Command) -> Result<Printed<String>> {
    let mut printed = String::new();
    let done = run(command, |child| match &mut child.stdout {
        Some(stdout) => stdout.read_to_string(&mut printed).map(drop),
        None => Ok(()),
    })?;
    Ok(match done {
        Printed::Done(()) => Printed::Done(printed.trim().to_owned()),
        Printed::Missing => Printed::Missing,
    })
}

/// Runs a program, counts what it prints and keeps nothing.
///
/// # Errors
/// A program that fails, with its own words.
pub(crate) fn pour(command: &mut Command) -> Result<Printed<Poured>> {
    let begun = Instant::now();
    let mut bytes = 0;
    let done = run(command, |child| {
        let mut piece = vec![0; 256 << 10];
        while let Some(stdout) = &mut child.stdout {
            match stdout.read(&mut piece)? {
                0 => break,
                read => bytes += read as u64,
            }
        }
        Ok(())
    })?;
    Ok(match done {
        Printed::Done(()) => Printed::Done(Poured { bytes, whole: begun.elapsed() }),
        Printed::Missing => Printed::Missing,
    })
}

fn run(
    command: &mut Command,
    take: impl FnOnce(&mut Child) -> std::io::Result<()>,
) -> Result<Printed<()>> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Printed::Missing),
        Err(error) => return Err(error).doing(format!("starting {name}")),
    };
    take(&mut child).doing(format!("reading from {name}"))?;
    // What these programs complain of fits into a pipe.
    let ended = child.wait_with_output().doing(format!("waiting for {name}"))?;
    if ended.status.success() {
        return Ok(Printed::Done(()));
    }
    let words = String::from_utf8_lossy(&ended.stderr);
    Err(Error::new(format!("{name} ended with {}: {}", ended.status, words.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_is_printed_is_read_or_counted() {
        assert!(
            matches!(text(&mut shell("echo hello")).unwrap(), Printed::Done(said) if said == "hello")
        );
        let poured = pour(&mut shell("printf '%05d' 7; printf abc")).unwrap();
        assert!(matches!(poured, Printed::Done(poured) if poured.bytes == 8));
    }

    #[test]
    fn a_failure_has_the_programs_own_words() {
        let error = text(&mut shell("echo no such table >&2; exit 3")).unwrap_err();
        assert_eq!(error.to_string(), "sh ended with exit status: 3: no such table");
    }

    #[test]
    fn a_program_that_is_not_installed_is_no_failure() {
        let printed = text(&mut Command::new("tallyroll-no-such-program")).unwrap();
        assert!(matches!(printed, Printed::Missing));
    }
}
