//! What is refused, in words, with nothing left of it.

use serde_json::json;

use super::{convert, fixture, refused, send};
use crate::support::{Server, on_every_backend};

#[tokio::test]
async fn every_fault_of_the_parameters_is_told_before_a_file_is_read() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let query = "columns=a,a&rename=x&headers=nothing&header_row=x&numbers=both&color=red";
        let answer = send(&server, query, "a\n1\n").await;
        let problems = answer.problems();
        for (parameter, code) in [
            ("to", "missing_parameter"),
            ("columns", "doubled_column"),
            ("rename", "bad_rename"),
            ("headers", "unknown_headers"),
            ("header_row", "not_a_row"),
            ("numbers", "unknown_value"),
            ("color", "unknown_parameter"),
        ] {
            let wanted = (parameter.to_owned(), code.to_owned());
            assert!(problems.contains(&wanted), "{wanted:?} in {problems:?}");
        }
        assert_eq!(answer.header("x-run-id"), None, "no run was begun");
        let pdf = send(&server, "to=pdf", "a\n1\n").await;
        assert_eq!(pdf.problems(), [("to".into(), "unknown_value".into())]);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_key_that_comes_later_is_refused_with_its_line_and_can_be_chosen() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let mut file = String::from("{\"a\":1}\n\n");
        for number in 0..5_000 {
            file.push_str(&format!("{{\"a\":{number}}}\n"));
        }
        file.push_str("{\"a\":1,\"b\":2}\n");
        let faults = refused(&server, "to=csv", file.clone()).await;
        let [(parameter, code, detail)] = faults.as_slice() else { panic!("{faults:?}") };
        assert_eq!((parameter.as_str(), code.as_str()), ("file", "late_key"));
        assert!(detail.contains("line 5003") && detail.contains("\"b\""), "{detail}");
        let chosen = convert(&server, "to=csv&columns=b,a", file.clone()).await;
        assert!(chosen.text().ends_with(",4999\r\n2,1\r\n"), "the last has both");
        let faults = refused(&server, "to=csv&columns=b,nope", file).await;
        assert_eq!((&*faults[0].0, &*faults[0].1), ("columns", "unknown_column"));
        let array = "[{\"a\":1},\n {\"b\":2}]";
        let faults = refused(&server, "to=xlsx", array).await;
        assert!(faults[0].2.contains("element 2 (line 2)"), "{faults:?}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn columns_that_are_not_there_or_there_twice_are_all_named() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        let file = "a,b,a\r\n1,2,3\r\n";
        let faults = refused(&server, "to=json&rename=x:y,b:a", file).await;
        let codes: Vec<_> = faults.iter().map(|fault| (&*fault.0, &*fault.1)).collect();
        let expected = [
            ("rename", "unknown_column"),
            ("file", "doubled_column"),
            ("rename", "doubled_column"),
        ];
        assert_eq!(codes, expected);
        assert!(faults[1].2.contains("A1 and C1"), "{faults:?}");
        let faults = refused(&server, "to=json&columns=b,nope,neither", file).await;
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].2.contains("\"nope\"") && faults[0].2.contains("\"b\""), "{faults:?}");
        assert_eq!(convert(&server, "to=ndjson&columns=b", file).await.text(), "{\"b\":\"2\"}\n");
        let json = refused(&server, "to=csv", "{\"a\":1,\"a\":2}\n").await;
        assert_eq!(json[0].1, "duplicate_key");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn files_without_rows_and_files_that_are_none_are_refused_in_words() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[]).await;
        for (file, code) in [
            ("019-xlsx-entity-bomb/upload.xlsx", "document_type"),
            ("019-xlsx-entity-bomb/external-entity.xlsx", "document_type"),
            ("021-xlsx-password-protected/upload.xlsx", "password_protected"),
            ("023-empty-and-header-only/zero-bytes.xlsx", "empty_file"),
            ("023-empty-and-header-only/zero-bytes.csv", "empty_file"),
            ("023-empty-and-header-only/bom-only.csv", "empty_file"),
            ("023-empty-and-header-only/empty-sheet.xlsx", "no_rows"),
            ("023-empty-and-header-only/header-only.xlsx", "no_rows"),
            ("023-empty-and-header-only/header-only.csv", "no_rows"),
            ("023-empty-and-header-only/zero-sheets.xlsx", "no_sheets"),
            ("025-csv-cp949/broken-utf8.csv", "unknown_encoding"),
            ("028-csv-ragged-unterminated-nul/unterminated.csv", "unterminated_quote"),
            ("028-csv-ragged-unterminated-nul/ragged.csv", "value_without_heading"),
        ] {
            for to in ["ndjson", "xlsx"] {
                let faults = refused(&server, &format!("to={to}"), fixture(file)).await;
                let [(parameter, found, detail)] = faults.as_slice() else { panic!("{faults:?}") };
                assert_eq!((parameter.as_str(), found.as_str()), ("file", code), "{file}");
                assert!(detail.split(' ').count() > 6, "{file}: {detail}");
            }
        }
        let ragged = fixture("028-csv-ragged-unterminated-nul/ragged.csv");
        let faults = refused(&server, "to=csv", ragged).await;
        assert!(faults[0].2.contains("row 3 has 8 values"), "{faults:?}");
        for (file, code) in [
            ("%PDF-1.7 and so on", "unsupported_file"),
            ("[]", "no_rows"),
            ("{}\n{\"a\":1}\n", "no_columns"),
            ("[{\"a\":1}", "not_json"),
            ("{\"a\":1}\n[2]\n", "not_an_object"),
            ("a,\n1,2\n", "value_without_heading"),
            (",\n1,2\n", "no_rows"),
        ] {
            let faults = refused(&server, "to=csv", file).await;
            assert_eq!(faults[0].1, code, "{file}: {faults:?}");
        }
        let sheet = refused(&server, "to=csv&sheet=2", "a\n1\n").await;
        assert_eq!((&*sheet[0].0, &*sheet[0].1), ("sheet", "no_such_sheet"));
        let header = refused(&server, "to=csv&header_row=1", "{\"a\":1}\n").await;
        assert_eq!((&*header[0].0, &*header[0].1), ("header_row", "no_header_row"));
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_may_come_as_a_form_and_one_that_is_too_large_does_not_come_in() {
    on_every_backend(async |place| {
        let server = Server::start(&place, &[("max_upload", "1KiB")]).await;
        let form = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n\
                    a,b\n1,2\n\r\n--x--\r\n";
        let multipart = [("Content-Type", "multipart/form-data; boundary=x")];
        let path = "/api/v1/convert?to=ndjson";
        let answer = server.post(path, &multipart, form.into()).await;
        assert_eq!(answer.text(), "{\"a\":\"1\",\"b\":\"2\"}\n");
        super::forget(&server, &answer.run()).await;
        let other = form.replace("\"file\"", "\"other\"");
        server.post(path, &multipart, other.into()).await.problem(400, "malformed_request");
        server.post(path, &[], vec![b'x'; 2_000]).await.problem(413, "too_large");
        let unknown = server.send(reqwest::Method::PATCH, "/api/v1/convert", "").await;
        unknown.problem(405, "method_not_allowed");
        let runs = server.json("/api/v1/runs?kind=convert").await;
        assert_eq!(runs["items"].as_array().map(Vec::len), Some(1), "{runs}");
        assert_eq!(runs["items"][0]["params"], json!({ "to": "ndjson" }));
        server.stop().await;
    })
    .await;
}
