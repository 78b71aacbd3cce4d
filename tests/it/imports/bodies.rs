//! Bodies that are cut off, endless, badly framed or sent twice: none is taken for what it is not.

use serde_json::Value as Json;

use super::stand::{LONG, ROWS, entries, file, hold_up, until_it_stands};
use super::{count, stop};
use crate::support::{Server, Stream, on_every_backend, until};

const PATH: &str = "/api/v1/imports/entries";
/// Of a form, around the file in it.
const OPEN: &str =
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n";
const FORM: (&str, &str) = ("Content-Type", "multipart/form-data; boundary=x");

/// The problem that answers a request, read from a connection.
async fn refused(mut stream: Stream, status: u16) -> Json {
    stream.head().await;
    let body = stream.body().await;
    let problem: Json = serde_json::from_slice(&body.bytes).expect("a problem");
    assert_eq!(stream.status(), status, "{problem}");
    assert_eq!(stream.header("content-type"), Some("application/problem+json"));
    problem
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_never_taken_for_whole() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &[]).await;
        // What is sent of it would be a good file by itself.
        let half = "code,qty\nA-1,1\nA-2,2\n";
        let chunk = format!("{:x}\r\n{half}\r\n", half.len());
        let form = format!("{OPEN}{half}");
        let form_chunk = format!("{:x}\r\n{form}\r\n", form.len());
        let whole_form = format!("{form}\r\n--x--\r\n");
        let length = ("Content-Length", "100000");
        let chunked = ("Transfer-Encoding", "chunked");
        for (headers, sent) in [
            (vec![length], half),
            (vec![chunked], &chunk),
            (vec![FORM, length], &form),
            (vec![FORM, chunked], &form_chunk),
            // The form has its end, and the body goes on.
            (vec![FORM, length], &whole_form),
        ] {
            let mut stream = Stream::open(&server, "POST", PATH, &headers, None).await;
            assert!(stream.push(sent.as_bytes()).await);
            until("it is being taken in", LONG, async || {
                (!server.temporary_files().is_empty()).then_some(())
            })
            .await;
            drop(stream);
            until("nothing is left of it", LONG, async || {
                server.temporary_files().is_empty().then_some(())
            })
            .await;
        }
        assert_eq!(server.newest_run().await, None, "no run was begun");
        assert_eq!(count(&place, "entries").await, "0");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read_or_as_soon_as_it_is_known() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &[("max_upload", "1MiB")]).await;
        for headers in
            [vec![("Content-Length", "9999999999")], vec![FORM, ("Content-Length", "2000000")]]
        {
            // Nothing of it is sent.
            let stream = Stream::open(&server, "POST", PATH, &headers, None).await;
            let problem = refused(stream, 413).await;
            assert_eq!(problem["code"], "too_large", "{problem}");
            assert!(problem["detail"].to_string().contains("1048576"), "{problem}");
        }
        let chunked = ("Transfer-Encoding", "chunked");
        let size = 64 << 10;
        let chunk = [format!("{size:x}\r\n").as_bytes(), &vec![b'x'; size], b"\r\n"].concat();
        for (headers, first) in [
            (vec![chunked], String::new()),
            (vec![FORM, chunked], format!("{:x}\r\n{OPEN}\r\n", OPEN.len())),
        ] {
            let mut stream = Stream::open(&server, "POST", PATH, &headers, None).await;
            assert!(stream.push(first.as_bytes()).await);
            // A little more than is taken, and no end.
            for _ in 0..17 {
                assert!(stream.push(&chunk).await);
            }
            let problem = refused(stream, 413).await;
            assert_eq!(problem["code"], "too_large", "{problem}");
        }
        // As large as may be.
        let rows = "A-1,1\n".repeat(((1 << 20) - 9) / 6);
        let largest = format!("code,qty\n{rows}{}", "\n".repeat((1 << 20) - 9 - rows.len()));
        assert_eq!(largest.len(), 1 << 20);
        let outcome = server.post(PATH, &[], largest.into_bytes()).await.json();
        assert_eq!(outcome["inserted"], rows.len() / 6, "{outcome}");
        assert_eq!(server.temporary_files(), Vec::<String>::new());
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_form_that_is_none_is_refused_in_words() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &[]).await;
        let good = format!("{OPEN}code,qty\nA-1,1\r\n--x--\r\n");
        let nameless = good.replace("name=\"file\"; ", "");
        let field =
            good.replace("; filename=\"a.csv\"", "").replace("name=\"file\"", "name=\"data\"");
        let two = format!("{}{good}", good.replace("--x--\r\n", ""));
        let kind = |kind: &'static str| ("Content-Type", kind);
        for (content_type, body, code) in [
            (kind("multipart/form-data"), good.as_str(), "bad_form"),
            (kind("multipart/form-data; boundary=\"\""), &good, "bad_form"),
            (kind("multipart/form-data; boundary=other"), &good, "cut_off"),
            (kind("multipart/mixed; boundary=x"), &good, "bad_form"),
            (FORM, "", "cut_off"),
            (FORM, "code,qty\nA-1,1\n", "cut_off"),
            (FORM, "--x--\r\n", "no_file"),
            (FORM, &nameless, "bad_form"),
            (FORM, &field, "unknown_part"),
            (FORM, &two, "doubled_part"),
        ] {
            let answer = server.post(PATH, &[content_type], body.into()).await;
            let problem = answer.problem(400, "malformed_request");
            let problems = problem["problems"].as_array().expect("faults are listed");
            assert_eq!(problems[0]["code"], code, "{content_type:?} {body:?}: {problem}");
            assert_eq!(problems[0]["parameter"], "file", "{problem}");
            let detail = problems[0]["detail"].as_str().unwrap_or_default();
            assert!(detail.split(' ').count() > 6, "{problem}");
            assert_eq!(server.temporary_files(), Vec::<String>::new(), "{content_type:?} {body:?}");
        }
        assert_eq!(server.newest_run().await, None, "no run was begun");
        let outcome = server.post(PATH, &[FORM], good.into()).await.json();
        assert_eq!(outcome["inserted"], 1, "{outcome}");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn the_same_key_is_told_to_wait_while_the_first_request_is_at_work() {
    on_every_backend(async |place| {
        entries(&place).await;
        let server = Server::start(&place, &[]).await;
        let key = [("Idempotency-Key", "k")];
        let held = hold_up(&place).await;
        let mut first = Stream::post(&server, PATH, &key, &file(ROWS)).await;
        let run = until("all rows are read", LONG, async || {
            let run = server.newest_run().await.filter(|run| run["rows"] == ROWS)?;
            run["id"].as_str().map(str::to_owned)
        })
        .await;
        until_it_stands(&place).await;
        let early = server.post(PATH, &key, file(ROWS)).await;
        let problem = early.problem(409, "still_running");
        assert!(problem["detail"].to_string().contains("Idempotency-Key"), "{problem}");
        let reused = |problem: &Json| {
            assert_eq!(problem["problems"][0]["code"], "idempotency_key_reused", "{problem}");
        };
        reused(&server.post(PATH, &key, file(1)).await.problem(422, "invalid_request"));
        let other = format!("{PATH}?on_problem=skip");
        reused(&server.post(&other, &key, file(ROWS)).await.problem(422, "invalid_request"));
        assert_eq!(server.newest_run().await.expect("a run")["id"], run, "no other run was begun");
        for bad in ["", &"k".repeat(256)] {
            let answer = server.post(PATH, &[("Idempotency-Key", bad)], file(1)).await;
            assert_eq!(
                answer.problems(),
                [("Idempotency-Key".into(), "bad_key".into())],
                "{bad:?}"
            );
        }
        held.let_go().await;
        first.head().await;
        let told = first.body().await.bytes;
        assert_eq!(first.status(), 200, "{}", String::from_utf8_lossy(&told));
        let again = server.post(PATH, &key, file(ROWS)).await;
        assert_eq!((again.status, again.body), (200, told), "the first answer again");
        assert_eq!(count(&place, "entries").await, ROWS.to_string());
        stop(server).await;
    })
    .await;
}
