//! A client that leaves nginx has left the server: within a second nothing works for it and its
//! permit is free.

use std::time::Instant;

use crate::faults::{
    SECOND, at_work_without_a_row, cancelled, long_report, nothing_works, rows, short_report,
    sorting_report,
};
use crate::support::{Nginx, Server, Stream, behind_nginx};

/// One permit of each kind, which the next answer needs.
const ONE: [(&str, &str); 3] = [("streams", "1"), ("builds", "1"), ("queue_wait", "1s")];

async fn left_nothing(server: &Server<'_>, nginx: &Nginx, run: &str, closed: Instant) {
    nothing_works(server, closed).await;
    cancelled(server, run, closed).await;
    let next = nginx.get(&rows("short")).await;
    assert_eq!(next.status, 200, "{}", next.text());
    assert!(closed.elapsed() < SECOND, "the permit came back after {:?}", closed.elapsed());
}

fn leave(stream: Stream, reset: bool) {
    if reset {
        stream.reset();
    }
}

#[tokio::test]
async fn a_client_that_leaves_at_row_1000_of_a_million_stops_the_query() {
    behind_nginx(async |place| {
        long_report(&place, 1_000_000);
        short_report(&place);
        let server = Server::start(&place, &ONE).await;
        let nginx = Nginx::start(&place, &server, &ONE).await;
        for (format, coding) in [("ndjson", "identity"), ("csv", "gzip"), ("json", "zstd")] {
            for reset in [false, true] {
                let path = format!("{}?format={format}", rows("long"));
                let mut stream = Stream::get(&nginx, &path, &[("Accept-Encoding", coding)]).await;
                stream.next_chunk().await.expect("the first batch");
                let (run, closed) = (stream.run(), Instant::now());
                leave(stream, reset);
                left_nothing(&server, &nginx, &run, closed).await;
            }
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_first_row_of_a_long_sort_stops_the_query() {
    behind_nginx(async |place| {
        short_report(&place);
        sorting_report(&place);
        let server = Server::start(&place, &ONE).await;
        let nginx = Nginx::start(&place, &server, &ONE).await;
        for delivery in ["direct", "prepared"] {
            for reset in [false, true] {
                let path = format!("{}?delivery={delivery}", rows("sorting"));
                let stream = Stream::send(&nginx, &path, &[]).await;
                let run = at_work_without_a_row(&place, &server).await;
                let closed = Instant::now();
                leave(stream, reset);
                left_nothing(&server, &nginx, &run, closed).await;
            }
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}
