//! Settings that are words, and what the machine says where none was given.

use crate::error::Problem;
use crate::formats::XlsxWriter;

/// The name that `/etc/passwd` gives the user this process runs as; its number without one.
pub(super) fn user_of_process() -> String {
    use std::os::unix::fs::MetadataExt;
    let Ok(process) = std::fs::metadata("/proc/self") else { return "unknown".into() };
    let id = process.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(&id)).then(|| name.to_owned())
    });
    named.unwrap_or(id)
}

pub(super) fn zone(name: Option<String>, faults: &mut Vec<Problem>) -> jiff::tz::TimeZone {
    let name = name.unwrap_or_else(|| "Asia/Seoul".into());
    jiff::tz::TimeZone::get(&name).unwrap_or_else(|_| {
        faults.push(Problem::parameter(
            "time_zone",
            "not_a_zone",
            &*name,
            format!("time_zone is \"{name}\", which is not an IANA zone such as Asia/Seoul or UTC"),
        ));
        jiff::tz::TimeZone::UTC
    })
}

pub(super) fn writer(name: Option<String>, faults: &mut Vec<Problem>) -> XlsxWriter {
    let Some(name) = name else { return XlsxWriter::default() };
    let known = XlsxWriter::ALL.into_iter().find(|writer| writer.name() == name);
    known.unwrap_or_else(|| {
        let words = XlsxWriter::ALL.map(XlsxWriter::name).join(", ");
        let detail = format!("xlsx_writer is \"{name}\"; there is {words}");
        faults.push(Problem::parameter("xlsx_writer", "unknown_value", &*name, detail));
        XlsxWriter::default()
    })
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}
