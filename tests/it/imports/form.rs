//! The page's forms for imports, filled in as a browser without scripts does.

use super::{count, stop, transactions};
use crate::support::{Server, on_every_backend};

const FILE: &str = "거래번호,거래처명,수량,금액,거래일자\nA-1,한빛,1,1.50,2026-01-05\n";

/// What an attribute says, of the tags that hold `marked`.
fn attributes<'h>(html: &'h str, marked: &str, name: &str) -> Vec<&'h str> {
    let (marked, name) = (marked.to_owned(), format!(" {name}=\""));
    let tags = html.split('<').filter(move |tag| tag.contains(&marked));
    tags.filter_map(|tag| tag.split_once(&name)?.1.split_once('"').map(|value| value.0)).collect()
}

#[tokio::test]
async fn every_import_has_a_template_and_a_form_that_sends_a_file_where_programs_do() {
    on_every_backend(async |place| {
        transactions(&place).await;
        let server = Server::start(&place, &[]).await;
        let page = server.get("/").await;
        assert_eq!(page.status, 200, "{}", page.text());
        let html = page.text();
        assert!(html.contains("거래 업로드") && html.contains("결제 업로드"), "{html}");
        let path = "/api/v1/imports/transactions";
        let template = format!("{path}/template");
        assert!(attributes(html, "/template", "href").contains(&&*template), "{html}");
        assert_eq!(server.get(&template).await.status, 200);
        let form = html
            .split("<form")
            .find(|form| form.contains(&format!("action=\"{path}\"")))
            .expect("it has a form");
        assert!(form.contains("method=\"post\" enctype=\"multipart/form-data\""), "{form}");
        assert_eq!(attributes(form, "type=\"file\"", "name"), ["file"]);
        let field = attributes(form, "type=\"file\"", "id");
        assert_eq!(attributes(form, "label", "for"), field);
        let ways = attributes(form, "button", "formaction");
        assert_eq!(ways, [&*format!("{path}/inspect"), &*format!("{path}?dry_run=true"), path]);
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.csv\"";
        let body = format!("--x\r\n{head}\r\nContent-Type: text/csv\r\n\r\n{FILE}\r\n--x--\r\n");
        let multipart = [("Content-Type", "multipart/form-data; boundary=x")];
        for (way, stored) in ways.into_iter().zip(["0", "0", "1"]) {
            let answer = server.post(way, &multipart, body.clone().into()).await;
            assert_eq!(answer.status, 200, "{way}: {}", answer.text());
            assert_eq!(count(&place, "transactions").await, stored, "{way}");
        }
        stop(server).await;
    })
    .await;
}
