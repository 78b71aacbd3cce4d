//! One upload: how long it took, and what it cost.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::client;
use crate::error::{Doing, Error, Result};
use crate::process::Process;
use crate::server::Server;

/// Between two looks at the memory.
const LOOKS: Duration = Duration::from_millis(10);

/// What an upload took.
#[derive(Debug)]
pub(in crate::scenarios) struct Taken {
    /// From before the connection was opened to the answer's end.
    pub(in crate::scenarios) whole: Duration,
    /// What the import came to.
    pub(in crate::scenarios) outcome: serde_json::Value,
    /// CPU seconds of the server and its child.
    pub(in crate::scenarios) cpu: f64,
    /// The most that server and child had together, in bytes.
    pub(in crate::scenarios) memory: u64,
}

/// Uploads a file.
///
/// # Errors
/// An answer that is no 200, with what the server says.
pub(in crate::scenarios) fn take(server: &Server, file: &Path) -> Result<Taken> {
    let process = server.process();
    let body = File::open(file).doing(format!("opening {}", file.display()))?;
    let cpu = process.cpu_seconds_with_children()?;
    let over = AtomicBool::new(false);
    let (answered, memory) = thread::scope(|scope| {
        let watch = scope.spawn(|| watch(process, &over));
        let answered = upload(server, body);
        over.store(true, Ordering::Relaxed);
        let memory = watch.join().map_err(|_| Error::new("the thread that looks panicked"))?;
        Ok::<_, Error>((answered, memory))
    })?;
    let (whole, outcome) = answered?;
    let cpu = process.cpu_seconds_with_children()? - cpu;
    Ok(Taken { whole, outcome, cpu, memory: memory? })
}

fn upload(server: &Server, mut body: File) -> Result<(Duration, serde_json::Value)> {
    let begun = Instant::now();
    let answer = client::send(server.address(), "/api/v1/imports/lines", &mut body)?;
    let status = answer.status().unwrap_or("nothing that is HTTP").to_owned();
    let text = answer.text()?;
    let whole = begun.elapsed();
    if status != "200" {
        return Err(Error::new(format!("an upload was answered {status}: {text}")));
    }
    let outcome = serde_json::from_str(&text).doing("reading what an import came to")?;
    Ok((whole, outcome))
}

/// The most memory that a process and its children have together until it is over.
fn watch(process: Process, over: &AtomicBool) -> Result<u64> {
    let mut most = 0;
    while !over.load(Ordering::Relaxed) {
        let children = process.children()?.into_iter();
        // A child may end between two looks.
        let children: u64 = children.filter_map(|child| child.resident().ok()).sum();
        most = most.max(process.resident()? + children);
        thread::sleep(LOOKS);
    }
    Ok(most)
}
