//! An upload goes to disk and from there, a little at a time, into the database: it never sits in memory.

use super::stand::entries;
use super::{count, stop};
use crate::faults::memory::{assert_within, forget_peak};
use crate::support::{Server, Stream, on_every_backend};

const MIB: u64 = 1 << 10;
/// What an upload may take beyond an idle server.
const MOST: u64 = 32 * MIB;
/// Bytes of a value that nobody asked for; rows of them.
const WIDE: usize = 32 << 10;
const ROWS: u64 = 3_200;

#[tokio::test]
async fn an_upload_of_100_mib_never_sits_in_memory() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/imports/entries";
        // Whatever is made once is made.
        let small = "code,qty\nA-0,0\n";
        server.post(path, &[], small.into()).await.json();
        server.settled().await;
        let form =
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n";
        for is_form in [false, true] {
            forget_peak(&server);
            let idle = server.rss_kib();
            let mut headers = vec![("Transfer-Encoding", "chunked")];
            if is_form {
                headers.push(("Content-Type", "multipart/form-data; boundary=x"));
            }
            let mut stream = Stream::open(&server, "POST", path, &headers, None).await;
            let (before, behind) = if is_form { (form, "\r\n--x--\r\n") } else { ("", "") };
            chunk(&mut stream, &format!("{before}code,qty,memo\n")).await;
            let memo = "가".repeat(WIDE / 3);
            for row in 1..=ROWS {
                chunk(&mut stream, &format!("A-{row},{row},{memo}\n")).await;
            }
            if is_form {
                chunk(&mut stream, behind).await;
            }
            assert!(stream.push(b"0\r\n\r\n").await);
            stream.head().await;
            let body = stream.body().await.bytes;
            assert_eq!(stream.status(), 200, "{}", String::from_utf8_lossy(&body));
            assert_within(&server, idle, MOST, "an upload of 100 MiB");
        }
        assert_eq!(count(&place, "entries").await, (2 * ROWS + 1).to_string());
        stop(server).await;
    })
    .await;
}

async fn chunk(stream: &mut Stream, text: &str) {
    let framed = format!("{:x}\r\n{text}\r\n", text.len());
    assert!(stream.push(framed.as_bytes()).await, "the server takes it");
}
