//! Who gets how much of the cores where everything shares one machine.
//!
//! A database has a service, and so a share of the cores, of its own, and so has the server: a service
//! manager sees to that with control groups. Started by hand, fifty sessions of a database are fifty
//! against one server, and with a kernel that groups by session even more than that. So for a crowd
//! the server, the database and its clients each get a control group of the same weight, for as long
//! as it takes; and who measures a moment goes before everybody, since he would not share a core with
//! them at all.

use std::process::Command;

use crate::database::Backend;
use crate::error::{Doing, Result};
use crate::groups::{Group, Version};
use crate::process::Process;
use crate::program::{self, Printed};

/// The shares of a run. Dropped, everything is as it was.
#[derive(Debug)]
pub(crate) struct Shares {
    clients: Group,
    _server: Group,
    _database: Option<Group>,
}

impl Shares {
    /// Gives a server, its database and this process a share each.
    ///
    /// # Errors
    /// A machine where that cannot be done, with what stood against it.
    pub(crate) fn make(server: Process, backend: Backend) -> Result<Self> {
        let group = |suffix, processes: &[u32]| {
            Group::make("cpu", suffix, |group| {
                processes.iter().try_for_each(|&process| group.take(process))
            })
        };
        let server = group("-server", &[server.0])?;
        let database = match backend.programs() {
            [] => None,
            programs => {
                let group = Group::make("cpu", "-database", |_| Ok(()))?;
                // A session may end meanwhile, or one more begin, which its parent takes along.
                for process in running(programs)? {
                    let _ = group.take(process);
                }
                Some(group)
            }
        };
        // The last one made, since groups are made below our own.
        let clients = group("-clients", &[std::process::id()])?;
        Ok(Self { clients, _server: server, _database: database })
    }

    /// Lets the calling thread go before everybody; says whether it could.
    ///
    /// # Errors
    /// No `/proc`.
    pub(crate) fn go_first(&self) -> Result<bool> {
        let own = std::fs::read_link("/proc/thread-self").doing("finding this thread")?;
        let id = own.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let out = match (self.clients.version, id.parse()) {
            // A group has no time of its own for those who go before everybody.
            (Version::One, Ok(id)) => self.clients.let_out(id).is_ok(),
            _ => true,
        };
        let told = program::text(Command::new("chrt").args(["--fifo", "--pid", "1", id]));
        Ok(out && matches!(told, Ok(Printed::Done(_))))
    }
}

/// The processes that run one of these programs.
fn running(programs: &[&str]) -> Result<Vec<u32>> {
    let entries = std::fs::read_dir("/proc").doing("looking for processes")?;
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let wanted = |id: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        programs.contains(&name.trim_end())
    };
    Ok(ids.filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_found_by_its_program() {
        let name = std::fs::read_to_string("/proc/self/comm").unwrap();
        assert!(running(&[name.trim_end()]).unwrap().contains(&std::process::id()));
        assert!(running(&["no such program"]).unwrap().is_empty());
    }
}
