//! What was measured, as Markdown.

use super::peers::{PEERS, Peer};
use super::{Format, SLOW, Sheet};
use crate::program::Poured;
use crate::sample::{Sample, cpu, first_bytes, most_memory, seconds};
use crate::stats::{Series, mebibytes, megabytes, number};

pub(super) fn tables(sheets: &[Sheet]) -> String {
    let mut text = format!(
        "The whole of `settlements`, {} rows in the order of `paid_at, id`, direct, without content \
         coding, over loopback HTTP; client, server and database share the machine. Median (lowest–highest) of \
         the rounds; MB are 10^6 bytes. CPU is the server's alone, without the database's. Memory is \
         VmHWM above the idle server's VmRSS, the highest of the rounds. The slow reader takes {} MB/s.\n\n\
         | database | format | reader | rounds | MB | s | MB/s | rows/s | first byte, ms | CPU, s | MiB above idle |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
        sheets.first().map_or(0, |sheet| sheet.rows),
        SLOW / 1_000_000,
    );
    for sheet in sheets {
        for (reader, samples) in [("fast", &sheet.fast), ("slow", &sheet.slow)] {
            for (format, samples) in samples {
                text += &line(sheet, *format, reader, samples);
            }
        }
    }
    let idle = sheets.iter().map(|sheet| {
        format!("\nIdle on {}: {} MiB.", sheet.backend.title(), mebibytes(sheet.idle))
    });
    text + &idle.collect::<String>() + &peer_table(sheets)
}

fn peer_table(sheets: &[Sheet]) -> String {
    let text = String::from(
        "\n\nThe databases' own tools, the same rows in the same order into a pipe that is drained, in \
         turn with the answers above. The ratio is the tool's time by the server's in the same round: \
         above 1 the server is faster.\n\n\
         | tool | rounds | MB | s | MB/s | set beside | ratio |\n|---|---|---|---|---|---|---|\n",
    );
    let lines = sheets.iter().flat_map(|sheet| {
        let peers = PEERS.iter().filter(|peer| peer.backend == sheet.backend);
        peers.map(|peer| match sheet.peers.get(peer.name) {
            Some(poured) => peer_line(sheet, peer, poured),
            None => format!("| {} | not installed | | | | | |\n", peer.name),
        })
    });
    text + &lines.collect::<String>()
}

fn line(sheet: &Sheet, format: Format, reader: &str, samples: &[Sample]) -> String {
    let bytes = samples.first().map_or(0, |sample| sample.drained.bytes);
    let time = seconds(samples);
    let cpu = cpu(samples);
    format!(
        "| {} | {} | {reader} | {} | {:.1} | {time} | {:.0} | {:.0} | {:.1} | {cpu} | {} |\n",
        sheet.backend.title(),
        format.word(),
        samples.len(),
        megabytes(bytes),
        megabytes(bytes) / time.median(),
        number(sheet.rows) / time.median(),
        first_bytes(samples).times(1_000.0),
        mebibytes(most_memory(samples)),
    )
}

fn peer_line(sheet: &Sheet, peer: &Peer, poured: &[Poured]) -> String {
    let bytes = poured.first().map_or(0, |poured| poured.bytes);
    let time: Series = poured.iter().map(|poured| poured.whole.as_secs_f64()).collect();
    let ours = sheet.fast.get(&peer.beside).map(|samples| seconds(samples)).unwrap_or_default();
    format!(
        "| {} | {} | {:.1} | {time} | {:.0} | {} {} | {} |\n",
        peer.name,
        poured.len(),
        megabytes(bytes),
        megabytes(bytes) / time.median(),
        sheet.backend.title(),
        peer.beside.word(),
        time.by(&ours),
    )
}
