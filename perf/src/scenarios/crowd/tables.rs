//! What was measured, as Markdown.

use super::guests::{BOOK_EVERY, Fate, GUESTS, ROWS, Wants};
use super::judge::Probe;
use super::prober::PAUSE;
use super::{Sitting, guests};
use crate::stats::{Series, mebibytes, megabytes};

pub(super) fn tables(sittings: &[Sitting]) -> String {
    let nicer = if sittings.iter().all(|sitting| sitting.crowd.nicer) {
        format!("at niceness {}, since elsewhere they would not share its cores", guests::NICENESS)
    } else {
        "at the server's own priority, since `renice` is not installed".into()
    };
    let shares = sittings.iter().find_map(|sitting| sitting.unshared.as_ref()).map_or_else(
        || "in a control group each with the same share of the cores, as services have".into(),
        |error| format!("not in control groups of their own: {error}"),
    );
    let head = format!(
        "{GUESTS} requests at once over loopback HTTP, every {BOOK_EVERY}th for a prepared xlsx file and the \
         others for ndjson as it comes, {ROWS} rows each, against a server with 48 streams and 2 \
         builds. The readers take what comes as fast as they can, a thread each, {nicer}; client, \
         server and database share the machine, {shares}. The wait is until an answer was begun to be made, by \
         the client's clock and `Server-Timing`, or until it was refused. Long queue: 400 may wait for \
         two minutes; short queue: 100 may, for two seconds. MB are 10^6 bytes.\n\n\
         | database | queue | streams served | builds served | refused | longest wait, s | all over after, s \
         | MB | CPU, s | client's CPU, s | MiB above idle |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let first = if sittings.iter().all(|sitting| sitting.busy.first) {
        "before everybody in real time, for the same reason"
    } else {
        "at the server's own priority, since a higher one is not allowed"
    };
    let probes = format!(
        "\nShort requests meanwhile, one after the other with {} ms between, each on a connection of its \
         own, {first}; before, as many with the server idle. All in milliseconds; the last but one is \
         what the asker himself waited for a core in the crowd, which is part of his times.\n\n\
         | database | queue | request | times | idle p50 | p99 | max | in the crowd p50 | p99 | max \
         | own wait, p99 | p99 by p99 |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        PAUSE.as_millis(),
    );
    let lines = sittings.iter().map(line);
    let probe_lines = sittings.iter().flat_map(probe_lines);
    [head].into_iter().chain(lines).chain([probes]).chain(probe_lines).collect()
}

fn line(sitting: &Sitting) -> String {
    let bytes = sitting.crowd.guests.iter().map(|guest| match &guest.fate {
        Fate::Served(served) => served.bytes,
        Fate::Refused(_) | Fate::Spoilt(_) => 0,
    });
    let served = |wants| {
        let guests = sitting.crowd.guests.iter();
        guests.filter(|one| one.wants == wants && matches!(one.fate, Fate::Served(_))).count()
    };
    format!(
        "| {} | {} | {} | {} | {} | {:.2} | {:.2} | {:.0} | {:.2} | {:.2} | {} |\n",
        sitting.backend.title(),
        sitting.setting.name,
        served(Wants::Stream),
        served(Wants::Book),
        sitting.fates().refused,
        sitting.longest_wait().as_secs_f64(),
        sitting.crowd.whole.as_secs_f64(),
        megabytes(bytes.sum()),
        sitting.cpu[0],
        sitting.cpu[1],
        mebibytes(sitting.above_idle),
    )
}

fn probe_lines(sitting: &Sitting) -> [String; 2] {
    let figures = |times: &Series| {
        let [half, most] = [50, 99].map(|percent| times.percentile(percent));
        format!("{half:.2} | {most:.2} | {:.2}", times.high())
    };
    sitting.probes().map(|Probe { path, idle, busy, own }| {
        format!(
            "| {} | {} | {path} | {} | {} | {} | {:.2} | {:.2} |\n",
            sitting.backend.title(),
            sitting.setting.name,
            busy.len(),
            figures(&idle),
            figures(&busy),
            own.percentile(99),
            busy.percentile(99) / idle.percentile(99),
        )
    })
}
