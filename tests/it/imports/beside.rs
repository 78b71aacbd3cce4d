//! Downloads while an import is at work: they are answered as if there were none.

use super::stand::{LONG, ROWS, entries, file, pass, stand, stands, until_it_stands};
use super::{count, stop};
use crate::support::{End, Server, Stream, on_every_backend, until};

#[tokio::test]
async fn a_download_is_answered_in_the_middle_of_a_merge() {
    on_every_backend(async |place| {
        entries(&place).await;
        place.execute("INSERT INTO entries VALUES ('before', 0)").await;
        place.report(
            "entries",
            "from = \"entries\"\norder_by = [\"code\"]\n[[columns]]\nkey = \"code\"\ntype = \"text\"\n\
             not_null = true\n[[columns]]\nkey = \"qty\"\ntype = \"int\"",
        );
        let server = Server::start(&place, &[]).await;
        let held = stand(&place).await;
        let import = Stream::post(&server, "/api/v1/imports/entries", &[], &file(ROWS)).await;
        until_it_stands(&place).await;
        // The server's own bookkeeping, reads, and a file that is built.
        for parameters in ["format=ndjson", "format=csv", "format=xlsx", "delivery=prepared"] {
            let path = format!("/api/v1/reports/entries/rows?{parameters}");
            let mut rows = Stream::get(&server, &path, &[]).await;
            let body = rows.body().await;
            assert_eq!((rows.status(), body.end), (200, End::Complete), "{parameters}");
            let run = server.run(&rows.run()).await;
            assert_eq!((&run["state"], &run["rows"]), (&"complete".into(), &1.into()), "{run}");
        }
        let counted = server.json("/api/v1/reports/entries/count").await;
        assert_eq!(counted["rows"], 1, "what is not committed is not there");
        assert!(stands(&place).await, "all of that in the middle of the merge");
        let runs = server.json("/api/v1/runs?kind=import&state=running").await;
        let import_run = runs["items"][0]["id"].as_str().expect("the import goes on").to_owned();

        drop(import);
        server.until_run(&import_run, |run| run["state"] == "cancelled", LONG).await;
        held.let_go().await;
        until("the merge is over", LONG, async || (!stands(&place).await).then_some(())).await;
        pass(&place).await;
        assert_eq!(count(&place, "entries").await, "1");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_download_is_answered_while_rows_are_read_and_staged() {
    const MANY: u64 = 200_000;
    on_every_backend(async |place| {
        entries(&place).await;
        place
            .report("numbers", "sql = \"SELECT 1 AS n\"\n[[columns]]\nkey = \"n\"\ntype = \"int\"");
        let server = Server::start(&place, &[]).await;
        let mut import = Stream::post(&server, "/api/v1/imports/entries", &[], &file(MANY)).await;
        let run = until("rows are read", LONG, async || {
            let run = server.newest_run().await.filter(|run| run["rows"].as_u64() >= Some(1))?;
            run["id"].as_str().map(str::to_owned)
        })
        .await;
        let rows = server.get("/api/v1/reports/numbers/rows").await;
        assert_eq!((rows.status, rows.text()), (200, "{\"n\":1}\n"));
        let run = server.run(&run).await;
        assert_eq!(run["state"], "running", "the import goes on: {run}");
        import.head().await;
        assert_eq!(import.status(), 200);
        stop(server).await;
    })
    .await;
}
