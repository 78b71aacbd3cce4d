use crate::support::*;
use std::time::Duration;

#[tokio::test]
async fn smoke() {
    on_every_backend(async |place| {
        place.demo(20_000).await;
        let server = Server::start(&place, &[("stall_timeout", "2s")]).await;
        for coding in ["identity", "gzip", "zstd"] {
            let mut stream = Stream::get(&server, "/api/v1/reports/settlements/rows", &[("Accept-Encoding", coding)]).await;
            let body = stream.body().await;
            eprintln!("{coding} {} {} {:?} {}", body.bytes.len(), body.sent, body.end, body.arrivals.len());
            let run = server.until_run(&stream.run(), |run| run["state"] == "complete", Duration::from_secs(1)).await;
            eprintln!("{run}");
        }
        eprintln!("{} {} {}", server.rss_kib(), server.peak_kib(), server.pump_threads());
        let t = std::time::Instant::now();
        server.stop().await;
        eprintln!("stopped in {:?}", t.elapsed());
    }).await;
}
