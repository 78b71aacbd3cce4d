//! Every fault against every way of delivery on every database: what the client sees, what the run
//! says, and that nothing is left: no query, no thread, no temporary file, no permit, no connection.

use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Method;
use serde_json::Value as Json;

use super::breaks::failing_report;
use super::{
    LONG, at_work_without_a_row, cancelled, failed, long_report, nothing_is_kept, nothing_works,
    report_of, rows, short_report, sorting_report,
};
use crate::support::{Backend, End, Place, Server, Stream, backends, on_every_backend, until};

/// How an answer is delivered: `delivery` and `format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way(&'static str, &'static str);

const DIRECT: Way = Way("direct", "ndjson");
const WAYS: [Way; 3] = [DIRECT, Way("prepared", "ndjson"), Way("prepared", "xlsx")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The database ends the session that works for the run.
    SessionEnds,
    /// The database gives up on the query.
    QueryFails,
    LeavesTheQueue,
    LeavesBeforeTheFirstRow,
    LeavesMidway,
    /// The client stays and takes nothing.
    Stalls,
    FullDisk,
    /// The server is told to stop.
    Sigterm,
    /// The server is killed.
    Sigkill,
}

/// What the client sees.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// It left.
    Nothing,
    /// The connection was closed before an answer.
    Silence,
    /// A problem with this status and code.
    Refused(u16, String),
    /// An answer that was broken off.
    Cut,
    /// A complete one.
    Whole,
}

/// What the run says in the end.
#[derive(Debug, Clone, Copy)]
enum Ends {
    Complete,
    Cancelled,
    Failed(&'static str),
}

/// Each fault with what comes of a direct answer and of a prepared one.
fn table() -> [(Fault, [(Seen, Ends); 2]); 9] {
    use Ends::{Cancelled, Complete, Failed};
    let left = || [(Seen::Nothing, Cancelled), (Seen::Nothing, Cancelled)];
    let refused = |status, code: &'static str| (Seen::Refused(status, code.into()), Failed(code));
    let cut = |code| (Seen::Cut, Failed(code));
    [
        (Fault::SessionEnds, [cut("database_lost"), refused(503, "database_lost")]),
        (Fault::QueryFails, [cut("query_failed"), refused(500, "query_failed")]),
        (Fault::LeavesTheQueue, left()),
        (Fault::LeavesBeforeTheFirstRow, left()),
        (Fault::LeavesMidway, left()),
        // The file is whole, and can be fetched by whoever takes it.
        (Fault::Stalls, [cut("stalled"), (Seen::Cut, Complete)]),
        // What is direct needs no disk.
        (Fault::FullDisk, [(Seen::Whole, Complete), refused(507, "no_space")]),
        (Fault::Sigterm, [cut("shutting_down"), refused(503, "shutting_down")]),
        (Fault::Sigkill, [cut("node_lost"), (Seen::Silence, Failed("node_lost"))]),
    ]
}

/// One stream and one build at once, so that a permit that does not come back is missed.
const SETTINGS: [(&str, &str); 4] =
    [("streams", "1"), ("builds", "1"), ("stall_timeout", "2s"), ("shutdown_timeout", "1s")];
/// Of [`SETTINGS`].
const STALL: Duration = Duration::from_secs(2);
/// Fills before any file here is whole.
const SMALL_DISK: u64 = 1 << 20;
/// Enough for files that are larger than the small disk, and than what the sockets between server and
/// client hold.
const LIMITED: u64 = 300_000;
/// What a dead process's runs may take to be given up.
const NODE_LOST: Duration = Duration::from_secs(15);

#[tokio::test]
async fn every_fault_ends_as_documented_and_leaves_nothing() {
    on_every_backend(async |place| {
        long_report(&place, 5_000_000);
        short_report(&place);
        sorting_report(&place);
        report_of(&place, "limited", LIMITED);
        failing_report(&place, "failing", 50_001);
        for (fault, outcomes) in table() {
            let apart = fault == Fault::Sigkill
                || (fault == Fault::SessionEnds && place.backend() == Backend::Sqlite);
            for way in WAYS.into_iter().filter(|_| !apart) {
                eprintln!("{fault:?} {way:?}");
                let (seen, ends) = &outcomes[usize::from(way != DIRECT)];
                cell(&place, fault, way, seen, *ends).await;
            }
        }
    })
    .await;
}

/// The last row of the table, whose cells go beside each other, for they are mostly waiting.
#[tokio::test]
async fn a_server_that_is_killed_leaves_nothing_to_the_next() {
    let cells = backends().into_iter().flat_map(|backend| WAYS.map(|way| (backend, way)));
    join_all(cells.map(async |(backend, way)| {
        let place = Place::new(backend).await;
        long_report(&place, 5_000_000);
        short_report(&place);
        let table = table();
        let (_, outcomes) = table.iter().find(|row| row.0 == Fault::Sigkill).expect("a row");
        let (seen, ends) = &outcomes[usize::from(way != DIRECT)];
        cell(&place, Fault::Sigkill, way, seen, *ends).await;
    }))
    .await;
}

async fn cell(place: &Place, fault: Fault, way: Way, expected: &Seen, ends: Ends) {
    let server = match fault {
        Fault::FullDisk => Server::start_on_a_small_disk(place, SMALL_DISK, &SETTINGS).await,
        _ => Some(Server::start(place, &SETTINGS).await),
    };
    let Some(server) = server else { return };
    let (seen, run, since) = meet(place, &server, fault, way).await;
    assert_eq!(seen, *expected, "what the client sees");
    let server = match fault {
        Fault::Sigterm | Fault::Sigkill => follow(place, server, fault).await,
        _ => server,
    };
    ended(&server, &run, fault, ends).await;
    assert!(!server.log().contains("panicked"), "what is caught is not told as a crash");
    nothing_works(&server, since).await;
    forget(&server, &run).await;
    nothing_is_kept(&server, Instant::now()).await;
    let next = server.get(&path("short", way)).await;
    assert_eq!(next.status, 200, "the permit and the connection are free: {}", next.text());
    forget(&server, &next.run()).await;
    server.stop().await;
}

fn path(report: &str, Way(delivery, format): Way) -> String {
    format!("{}?delivery={delivery}&format={format}", rows(report))
}

/// Asks for a report and has the fault happen; gives back what the client saw, its run, and when the
/// fault was over.
async fn meet(
    place: &Place,
    server: &Server<'_>,
    fault: Fault,
    way: Way,
) -> (Seen, String, Instant) {
    match fault {
        Fault::LeavesTheQueue => leave_the_queue(place, server, way).await,
        Fault::LeavesBeforeTheFirstRow => {
            let stream = Stream::send(server, &path("sorting", way), &[]).await;
            let run = at_work_without_a_row(place, server).await;
            leave(server, stream, run).await
        }
        Fault::LeavesMidway => {
            let (stream, run) = begin(server, way).await;
            leave(server, stream, run).await
        }
        Fault::Stalls => stall(server, way).await,
        Fault::QueryFails => read("failing", server, way).await,
        Fault::FullDisk => read("limited", server, way).await,
        Fault::SessionEnds => {
            let (mut stream, run) = begin(server, way).await;
            assert_eq!(place.end_session(&run).await, 1, "one session carries the run's name");
            (answer(&mut stream).await, run, Instant::now())
        }
        Fault::Sigterm | Fault::Sigkill => {
            let (mut stream, run) = begin(server, way).await;
            server.kill(if fault == Fault::Sigterm { "TERM" } else { "KILL" });
            if fault == Fault::Sigterm {
                // Slow enough to be in the middle when the time is up.
                stream.limit_rate(500_000);
            }
            (answer(&mut stream).await, run, Instant::now())
        }
    }
}

/// Begins the long report, and waits until rows have been read for it.
async fn begin(server: &Server<'_>, way: Way) -> (Stream, String) {
    // A small buffer, so that a direct one is far from its end.
    let path = path("long", way);
    let stream = Stream::send_with_buffer(server, &path, &[], Some(64 << 10)).await;
    let run = until("rows are read", LONG, async || {
        let run = server.newest_run().await?;
        let begun = run["state"] == "running" && run["rows"].as_u64() >= Some(1_000);
        run["id"].as_str().filter(|_| begun).map(str::to_owned)
    })
    .await;
    (stream, run)
}

/// Reads the answer to wherever it ends.
async fn answer(stream: &mut Stream) -> Seen {
    let reading = async {
        // Unless its head was read already.
        if stream.status() == 0 && !stream.answered().await {
            return Seen::Silence;
        }
        let status = stream.status();
        let body = stream.body().await;
        match (status, body.end) {
            (_, End::BrokenOff) => Seen::Cut,
            (200, End::Complete) => Seen::Whole,
            (status, End::Complete) => {
                let problem: Json = serde_json::from_slice(&body.bytes).expect("a problem");
                Seen::Refused(status, problem["code"].as_str().unwrap_or_default().into())
            }
        }
    };
    tokio::time::timeout(LONG, reading).await.expect("the answer comes to an end")
}

async fn read(report: &str, server: &Server<'_>, way: Way) -> (Seen, String, Instant) {
    let mut stream = Stream::send(server, &path(report, way), &[]).await;
    let seen = answer(&mut stream).await;
    (seen, stream.run(), Instant::now())
}

/// Hangs up; within a second nothing works for the run any more, which is cancelled.
async fn leave(server: &Server<'_>, stream: Stream, run: String) -> (Seen, String, Instant) {
    let closed = Instant::now();
    drop(stream);
    nothing_works(server, closed).await;
    cancelled(server, &run, closed).await;
    nothing_is_kept(server, closed).await;
    (Seen::Nothing, run, closed)
}

async fn leave_the_queue(place: &Place, server: &Server<'_>, way: Way) -> (Seen, String, Instant) {
    let first = Stream::send(server, &path("sorting", way), &[]).await;
    let holder = at_work_without_a_row(place, server).await;
    let second = Stream::send(server, &path("short", way), &[]).await;
    let run = until("the second waits", LONG, async || {
        let run = server.newest_run().await?;
        let waits = run["state"] == "queued" && run["queue"]["position"] == 1;
        run["id"].as_str().filter(|_| waits).map(str::to_owned)
    })
    .await;
    let closed = Instant::now();
    drop(second);
    let over = cancelled(server, &run, closed).await;
    assert_eq!(over["started_at"], Json::Null, "{over}");
    leave(server, first, holder).await;
    (Seen::Nothing, run, Instant::now())
}

/// Takes nothing until the server gives up.
async fn stall(server: &Server<'_>, way: Way) -> (Seen, String, Instant) {
    let path = path("limited", way);
    let mut stream = Stream::send_with_buffer(server, &path, &[], Some(16 << 10)).await;
    assert!(stream.answered().await);
    let (begun, run) = (Instant::now(), stream.run());
    let given_up = |run: &Json| match way {
        DIRECT => run["state"] != "running",
        _ => run["sent_bytes"].as_u64() > Some(0),
    };
    server.until_run(&run, given_up, LONG).await;
    let (after, over) = (begun.elapsed(), Instant::now());
    assert!(after >= STALL && after < 2 * STALL, "{after:?}");
    (answer(&mut stream).await, run, over)
}

/// Waits for the end of a server that was told to end, and starts the next on what it left.
async fn follow<'p>(place: &'p Place, server: Server<'p>, fault: Fault) -> Server<'p> {
    let told = Instant::now();
    let code = server.exited(LONG).await.code();
    if fault == Fault::Sigterm {
        assert_eq!(code, Some(0));
        assert!(told.elapsed() < Duration::from_secs(6), "{:?}", told.elapsed());
        let left = std::fs::read_dir(place.data().join("tmp")).expect("the directory");
        assert_eq!(left.count(), 0, "it took its temporary files with it");
    } else {
        assert_eq!(code, None);
    }
    let next = Server::start(place, &SETTINGS).await;
    assert_eq!(next.temporary_files(), Vec::<String>::new(), "nothing is left when it listens");
    next
}

async fn ended(server: &Server<'_>, run: &str, fault: Fault, ends: Ends) {
    match ends {
        Ends::Complete => {
            let run = server.run(run).await;
            assert_eq!(run["state"], "complete", "{run}");
            assert_eq!(run["sha256"].as_str().map(str::len), Some(64), "{run}");
        }
        Ends::Cancelled => {
            assert_eq!(server.run(run).await["state"], "cancelled");
        }
        Ends::Failed(code) => {
            if fault == Fault::Sigkill {
                server.until_run(run, |run| run["state"] == "failed", NODE_LOST).await;
            }
            failed(server, run, code).await;
        }
    }
}

/// Gives up a finished file, where the run has one.
async fn forget(server: &Server<'_>, run: &str) {
    let answer = server.request(Method::DELETE, &format!("/api/v1/runs/{run}"), &[]).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
}
