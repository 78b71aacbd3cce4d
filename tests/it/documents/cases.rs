//! Names as people give them, as entries of an archive that every system can unpack.

use std::collections::BTreeSet;
use std::process::Command;

use unicode_normalization::UnicodeNormalization;

use super::{documents, once};
use crate::support::Server;

#[tokio::test]
async fn entries_are_named_so_that_every_system_unpacks_each_of_them() {
    once(async |place| {
        let names = include_str!("../../fixtures/047-zip-entry-names/names.json");
        let names: Vec<String> = serde_json::from_str(names).expect("JSON");
        place.execute("CREATE TABLE sheets (id bigint PRIMARY KEY, title text)").await;
        for (id, name) in names.iter().enumerate() {
            let name = name.replace('\'', "''");
            place.execute(&format!("INSERT INTO sheets VALUES ({id}, '{name}')")).await;
        }
        place.document("sheet", SHEET);
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/documents/sheet/zip?delivery=direct").await;
        let found = documents(&answer);
        assert_eq!(found.len(), 18);
        let folded: BTreeSet<String> =
            found.iter().map(|(name, _)| name.nfc().collect::<String>().to_lowercase()).collect();
        assert_eq!(folded.len(), 18, "{folded:?}");
        for (index, (name, pdf)) in found.iter().enumerate() {
            assert!(name.len() <= 255, "{name}");
            let ending = std::path::Path::new(name).extension();
            assert_eq!(ending, Some("pdf".as_ref()), "{name}");
            let forbidden = |c: char| c.is_control() || "\\/:*?\"<>|".contains(c);
            assert!(!name.contains("..") && !name.contains(forbidden), "{name}");
            // In order, each its own.
            assert!(super::letters(pdf).contains(&format!("제{index}호")), "{name}");
        }
        assert_flagged(&answer.body);
        let file = place.path().join("all.zip");
        std::fs::write(&file, &answer.body).expect("a file can be written");
        let program = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(len(set(z.namelist())))";
        let python = Command::new("python3").args(["-c", program]).arg(&file).output();
        assert_eq!(python.expect("python3 is needed here").stdout, b"19\n");
        let unzip = Command::new("unzip").arg("-tq").arg(&file).output();
        assert!(unzip.expect("unzip is needed here").status.success());
        server.stop().await;
    })
    .await;
}

/// Asserts that every name beyond ASCII is said to be UTF-8, before its entry and in the directory.
fn assert_flagged(zip: &[u8]) {
    let mut seen = [0, 0];
    for (signature, flags, length, name, kind) in
        [(b"PK\x03\x04", 6, 26, 30, 0), (b"PK\x01\x02", 8, 28, 46, 1)]
    {
        for at in 0..zip.len() - 46 {
            if zip[at..].starts_with(signature) {
                let two = |from: usize| u16::from_le_bytes([zip[at + from], zip[at + from + 1]]);
                let name = &zip[at + name..at + name + usize::from(two(length))];
                assert!(
                    name.is_ascii() || two(flags) & 1 << 11 != 0,
                    "{}",
                    String::from_utf8_lossy(name)
                );
                seen[kind] += 1;
            }
        }
    }
    assert_eq!(seen, [19, 19]);
}

const SHEET: &str = r#"
title = "문서"
from = "sheets"
order_by = ["id"]
[document]
key = "id"
title = "title"
[[columns]]
key = "id"
type = "int"
not_null = true
[[columns]]
key = "title"
type = "text"
[[sections]]
kind = "text"
text = "제{/id}호"
"#;
