//! What the kernel knows of a process: memory and CPU time, out of `/proc`.

use std::time::{Duration, Instant};

use crate::error::{Doing, Error, Result};

/// Ticks of a second in `/proc`, which Linux shows as 100 whatever its own are.
const TICKS: f64 = 100.0;
/// Memory stands still when so many readings in a row lie within [`STILL_WITHIN`].
const STILL_READINGS: usize = 5;
const STILL_WITHIN: u64 = 64 << 10;
const BETWEEN_READINGS: Duration = Duration::from_millis(100);
const LONGEST_SETTLING: Duration = Duration::from_secs(15);

/// A process to be watched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(pub(crate) u32);

impl Process {
    fn read(self, file: &str) -> Result<String> {
        let path = format!("/proc/{}/{file}", self.0);
        std::fs::read_to_string(&path).doing(format!("reading {path}"))
    }

    /// Resident bytes.
    ///
    /// # Errors
    /// A process that is gone.
    pub(crate) fn resident(self) -> Result<u64> {
        status(&self.read("status")?, "VmRSS")
    }

    /// The most resident bytes since the start or [`Process::forget_peak`].
    ///
    /// # Errors
    /// A process that is gone.
    pub(crate) fn peak(self) -> Result<u64> {
        status(&self.read("status")?, "VmHWM")
    }

    /// Lets the peak begin anew at what is resident.
    ///
    /// # Errors
    /// A process that is gone, or a kernel that does not let us.
    pub(crate) fn forget_peak(self) -> Result<()> {
        let path = format!("/proc/{}/clear_refs", self.0);
        std::fs::write(&path, "5").doing(format!("writing 5 to {path}"))
    }

    /// Seconds of CPU that all its threads have had, in steps of 10 ms.
    ///
    /// # Errors
    /// A process that is gone.
    pub(crate) fn cpu_seconds(self) -> Result<f64> {
        ticks(&self.read("stat")?, 2).map(|ticks| f64::from(ticks) / TICKS)
    }

    /// The same together with those of its children that have ended.
    ///
    /// # Errors
    /// A process that is gone.
    pub(crate) fn cpu_seconds_with_children(self) -> Result<f64> {
        ticks(&self.read("stat")?, 4).map(|ticks| f64::from(ticks) / TICKS)
    }

    /// Its children, by whichever thread.
    ///
    /// # Errors
    /// A process that is gone.
    pub(crate) fn children(self) -> Result<Vec<Self>> {
        let path = format!("/proc/{}/task", self.0);
        let threads = std::fs::read_dir(&path).doing(format!("reading {path}"))?;
        let mut children = Vec::new();
        for thread in threads.filter_map(std::result::Result::ok) {
            // A thread may end meanwhile.
            let listed = std::fs::read_to_string(thread.path().join("children"));
            let listed = listed.unwrap_or_default();
            children.extend(listed.split_whitespace().filter_map(|id| id.parse().ok()).map(Self));
        }
        Ok(children)
    }

    /// Waits until the resident bytes stand still, and gives them.
    ///
    /// # Errors
    /// A process that is gone or does not come to rest.
    pub(crate) fn settled(self) -> Result<u64> {
        let begun = Instant::now();
        let mut readings = Vec::new();
        while begun.elapsed() < LONGEST_SETTLING {
            readings.push(self.resident()?);
            if let Some(last) = readings.last_chunk::<STILL_READINGS>() {
                let (low, high) = (last.iter().min(), last.iter().max());
                if high.zip(low).is_some_and(|(high, low)| high - low <= STILL_WITHIN) {
                    return Ok(last[STILL_READINGS - 1]);
                }
            }
            std::thread::sleep(BETWEEN_READINGS);
        }
        Err(Error::new(format!(
            "the server's memory did not come to rest within {} s",
            LONGEST_SETTLING.as_secs()
        )))
    }
}

fn status(text: &str, key: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let kibibytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    let kibibytes = kibibytes.ok_or_else(|| Error::new(format!("/proc says no {key}")))?;
    Ok(kibibytes * 1024)
}

/// User and system time, and with four fields those of children that have ended. The name before them is
/// in parentheses and may hold anything.
fn ticks(text: &str, fields: usize) -> Result<u32> {
    let after_name = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
    let times = after_name.map(|words| words.skip(11).take(fields).map(str::parse::<u32>));
    let times: Option<Vec<u32>> = times.and_then(|times| times.collect::<Result<_, _>>().ok());
    match times {
        Some(times) if times.len() == fields => Ok(times.iter().sum()),
        _ => Err(Error::new("/proc says no CPU time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        let text = "Name:\tx\nVmHWM:\t   12 kB\nVmRSS:\t    9 kB\n";
        assert_eq!(status(text, "VmHWM").unwrap(), 12 << 10);
        assert_eq!(status(text, "VmRSS").unwrap(), 9 << 10);
        assert!(status(text, "VmSwap").is_err());
    }

    #[test]
    fn cpu_time_is_read_behind_any_name() {
        let text = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 7 3 20 0 4";
        assert_eq!(ticks(text, 2).unwrap(), 300);
        assert_eq!(ticks(text, 4).unwrap(), 310);
        assert!(ticks("7 (a) S 1", 2).is_err());
    }

    #[test]
    fn our_own_process_can_be_watched() {
        let own = Process(std::process::id());
        own.forget_peak().unwrap();
        assert!(own.peak().unwrap() > 0 && own.resident().unwrap() > 0);
        assert!(own.cpu_seconds().unwrap() >= 0.0);
    }
}
