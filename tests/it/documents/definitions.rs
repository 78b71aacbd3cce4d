//! What is wrong with a document's definition is said with its line and a way out.

use super::once;

const SOUND: &str = r##"title = "문서"
from = "sheets"
order_by = ["id"]

[document]
key = "id"

[[columns]]
key = "id"
type = "int"
not_null = true

[[columns]]
key = "content"
type = "json"

[[sections]]
kind = "heading"
text = "{/content/title}"

[[sections]]
kind = "table"
rows = "/content/rows"

[[sections.columns]]
title = "금액"
pointer = "/amount"
type = "number"
format = "#,##0원"
"##;

#[tokio::test]
async fn faults_are_named_with_their_line() {
    once(async |place| {
        place.execute("CREATE TABLE sheets (id bigint PRIMARY KEY, content text)").await;
        place.document("sheet", SOUND);
        let checked = place.tallyroll(&["check"]).await;
        assert_eq!(checked.code, Some(0), "{}", checked.text());
        assert!(checked.text().contains("3 documents, 0 faults"), "{}", checked.text());
        for (from, to, line, said) in [
            ("key = \"id\"\n\n[[c", "key = \"no\"\n\n[[c", 6, "\"key\" names \"no\""),
            ("key = \"id\"\n\n[[c", "key = \"content\"\n\n[[c", 6, "a json column"),
            ("{/content/title}", "{/contents/title}", 19, "begins with \"contents\""),
            ("{/content/title}", "{content/title}", 19, "is not a JSON pointer"),
            ("{/content/title}", "{/content/title", 19, "a brace that opens or closes nothing"),
            ("\"heading\"", "\"headline\"", 18, "\"kind\" of a section is \"headline\""),
            ("/content/rows", "/rows", 23, "begins with \"rows\""),
            ("title = \"금액\"\n", "", 25, "has no \"title\""),
            ("pointer = \"/amount\"", "pointer = \"amount\"", 27, "is not a JSON pointer"),
            ("#,##0원", "#.##0", 29, "no format of numbers"),
            ("type = \"number\"\n", "", 28, "\"format\" is for numbers"),
            ("[document]\nkey = \"id\"\n", "", 1, "has no [document]"),
            ("from = \"sheets\"", "from = \"sheet\"", 2, "the database refuses"),
        ] {
            let broken = SOUND.replacen(from, to, 1);
            assert_ne!(broken, SOUND, "{from}");
            place.document("sheet", &broken);
            let checked = place.tallyroll(&["check"]).await;
            assert_eq!(checked.code, Some(1), "{to}: {}", checked.text());
            let first = checked.text().lines().next().expect("a fault");
            let place = format!("documents/sheet.toml:{line}: ");
            assert!(first.starts_with(&place), "{to}: {first}");
            assert!(first.contains(said), "{to}: {first}");
        }
    })
    .await;
}
