//! Files on their way in, and rows on their way back.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{count, places, stop, transactions, upload};
use crate::support::{Server, Workbook, on_every_backend, until};

const GOOD: &str = "거래번호,거래처명,수량,금액,거래일자\nA-1,한빛,1,1.50,2026-01-05\n";

#[tokio::test]
async fn a_file_may_come_as_a_form_and_what_is_no_file_is_refused() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[("max_upload", "100KiB")]).await;
        let path = "/api/v1/imports/transactions";
        let form = |parts: &[(&str, &str)]| {
            let mut body = String::new();
            for (name, content) in parts {
                body.push_str(&format!(
                    "--x\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a.csv\"\r\n\r\n{content}\r\n"
                ));
            }
            format!("{body}--x--\r\n").into_bytes()
        };
        let multipart = [("Content-Type", "multipart/form-data; boundary=x")];
        let outcome = server.post(path, &multipart, form(&[("file", GOOD)])).await.json();
        assert_eq!(outcome["inserted"], 1, "{outcome}");
        for parts in [&[][..], &[("other", GOOD)], &[("file", GOOD), ("file", GOOD)]] {
            let answer = server.post(path, &multipart, form(parts)).await;
            answer.problem(400, "malformed_request");
        }
        let mut cut = form(&[("file", GOOD)]);
        cut.truncate(cut.len() - 20);
        server.post(path, &multipart, cut).await.problem(400, "malformed_request");
        let large = vec![b'x'; 200 << 10];
        server.post(path, &[], large).await.problem(413, "too_large");
        server.post("/api/v1/imports/nothing", &[], Vec::new()).await.problem(404, "not_found");
        let strange = server.post(&format!("{path}?on_problem=x&y=1"), &[], GOOD.into()).await;
        assert_eq!(strange.problems().len(), 2);
        assert_eq!(count(&place, "transactions").await, "1");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn an_upload_that_is_cut_off_is_never_taken_for_whole_and_holds_no_permit() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[("builds", "1")]).await;
        let mut cut = tokio::net::TcpStream::connect(server.address()).await.expect("a socket");
        let head = format!(
            "POST /api/v1/imports/transactions HTTP/1.1\r\nHost: {}\r\nContent-Length: 10000\r\n\r\n{GOOD}",
            server.address()
        );
        cut.write_all(head.as_bytes()).await.expect("sent");
        until("the upload is taken in", Duration::from_secs(5), async || {
            (!server.temporary_files().is_empty()).then_some(())
        })
        .await;
        // A slow uploader holds no permit.
        let other = "거래번호,거래처명,수량,금액,거래일자\nA-2,한빛,1,1.50,2026-01-05\n";
        upload(&server, "transactions", "", other.into()).await.json();
        cut.shutdown().await.expect("cut");
        let mut rest = Vec::new();
        let _ = cut.read_to_end(&mut rest).await;
        drop(cut);
        until("nothing is left of it", Duration::from_secs(5), async || {
            server.temporary_files().is_empty().then_some(())
        })
        .await;
        assert_eq!(count(&place, "transactions").await, "1");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn rejected_rows_come_back_with_what_is_wrong_and_can_be_mended() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let rows = "거래번호,거래처명,수량,금액,거래일자\n\
                    00123,한빛,many,1.50,2026-01-05\nA-2,대한,2,2.00,2026-01-05\n";
        let answer = upload(&server, "transactions", "?on_problem=skip", rows.into()).await;
        let outcome = answer.json();
        assert_eq!(places(&outcome), [(2, "수량".into())]);
        let path = format!("/api/v1/runs/{}/problems", answer.run());
        let book = Workbook::new(&server.get(&path).await.body);
        let sheets = book.sheets();
        let [(_, sheet)] = sheets.as_slice() else { panic!("one sheet") };
        assert_eq!(sheet.len(), 2, "the header and the row at fault");
        assert_eq!(sheet[1][0].to_string(), "00123");
        assert!(sheet[1][5].to_string().contains("수량"), "{sheet:?}");
        let csv = server.get(&format!("{path}?format=csv")).await;
        assert!(csv.text().contains("many"), "{}", csv.text());
        // Mended, it is taken as it is, with the column of what was wrong.
        let mended = csv.text().replace("many", "7");
        let outcome = upload(&server, "transactions", "", mended.into_bytes()).await.json();
        assert_eq!((&outcome["inserted"], &outcome["rejected"]), (&1.into(), &0.into()));
        assert_eq!(outcome["warnings"], serde_json::json!([]), "{outcome}");
        let lines = server.get(&format!("{path}?format=ndjson")).await;
        let line: serde_json::Value = serde_json::from_str(lines.text().trim()).expect("a line");
        assert_eq!(line["거래번호"], "00123");
        server.get(&format!("{path}?format=pdf")).await.problem(400, "malformed_request");
        let file = format!("/api/v1/runs/{}/file", answer.run());
        server.get(&file).await.problem(409, "run_has_no_file");
        stop(server).await;
    })
    .await;
}

#[tokio::test]
async fn a_template_has_the_headers_and_no_row() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/imports/transactions/template").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let book = Workbook::new(&answer.body);
        let sheets = book.sheets();
        assert_eq!(sheets[0].1.len(), 1, "no example row");
        assert_eq!(sheets[0].1[0][0].to_string(), "거래번호");
        assert!(book.parts().iter().any(|part| part.contains("comments")));
        let problem = upload(&server, "transactions", "", answer.body).await;
        let problem = problem.problem(422, "invalid_request");
        assert_eq!(problem["problems"][0]["code"], "no_rows", "{problem}");
        stop(server).await;
    })
    .await;
}
