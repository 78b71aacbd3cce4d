//! Keyset paging: every row once, in order, over the whole table.

use reqwest::Method;
use serde_json::Value as Json;

use crate::support::{Answer, Place, Server, on_every_backend};

const ROWS: &str = "/api/v1/reports/settlements/rows";

/// The address in `Link: <…>; rel="next"`.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let (address, rest) =
        link.strip_prefix('<').and_then(|link| link.split_once('>')).expect("a link");
    assert_eq!(rest, "; rel=\"next\"");
    Some(address.to_owned())
}

fn token(address: &str) -> &str {
    let token = address.split(['?', '&']).find_map(|pair| pair.strip_prefix("after="));
    token.expect("the link carries a token")
}

/// All pages behind one another, and how many there were.
async fn pages(server: &Server<'_>, first: &str) -> (String, usize) {
    let (mut all, mut count) = (String::new(), 0);
    let mut path = Some(first.to_owned());
    while let Some(address) = path {
        let page = server.get(&address).await;
        assert_eq!(page.status, 200, "{address}: {}", page.text());
        all += page.text();
        count += 1;
        assert!(count < 1_000, "the pages have no end");
        path = next(&page);
        let run = server.run(&page.run()).await;
        let told = run["result"]["next"].as_str();
        assert_eq!(told, path.as_deref().map(token), "the run knows the next page too");
    }
    (all, count)
}

#[tokio::test]
async fn pages_behind_one_another_are_the_whole_answer() {
    on_every_backend(async |place| {
        place.demo(20_000).await;
        let server = Server::start(&place, &[]).await;
        let whole = server.get(ROWS).await;
        assert_eq!(
            pages(&server, &format!("{ROWS}?limit=3000")).await,
            (whole.text().to_owned(), 7)
        );
        assert_eq!(
            pages(&server, &format!("{ROWS}?limit=10000")).await,
            (whole.text().to_owned(), 2)
        );
        let filtered = "columns=id,net&kind=refund&from=2026-02-01&tz=UTC&format=csv&header=none";
        let some = server.get(&format!("{ROWS}?{filtered}")).await;
        let (all, count) = pages(&server, &format!("{ROWS}?{filtered}&limit=50")).await;
        assert!(count > 3, "{count} pages");
        assert_eq!(all, some.text());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_ends_with_the_last_row_is_the_last() {
    on_every_backend(async |place| {
        place.demo(100).await;
        let server = Server::start(&place, &[]).await;
        let whole = server.get(ROWS).await;
        for (limit, count) in [(1, 100), (50, 2), (99, 2), (100, 1), (101, 1)] {
            let pages = pages(&server, &format!("{ROWS}?limit={limit}")).await;
            assert_eq!(pages, (whole.text().to_owned(), count), "limit {limit}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn beyond_ten_thousand_rows_the_next_page_is_told_at_the_end() {
    on_every_backend(async |place| {
        place.demo(25_000).await;
        let server = Server::start(&place, &[]).await;
        let whole = server.get(ROWS).await;
        let mut after = None;
        let (mut all, mut count) = (String::new(), 0);
        loop {
            let given = after.map_or(String::new(), |token| format!("&after={token}"));
            let page = server.get(&format!("{ROWS}?limit=10001&summary=true{given}")).await;
            assert_eq!(page.header("link"), None, "the status goes out before the end is known");
            let text = page.text().trim_end();
            let (rows, last) = text.rsplit_once('\n').expect("rows and a summary");
            all = all + rows + "\n";
            count += 1;
            let last: Json = serde_json::from_str(last).expect("a summary");
            let run = server.run(&page.run()).await;
            let next = last["_summary"]["next"].as_str().map(str::to_owned);
            assert_eq!(run["result"]["next"].as_str(), next.as_deref());
            if next.is_none() {
                break;
            }
            after = next;
        }
        assert_eq!(count, 3);
        assert!(all == whole.text());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_built_first_leads_on_as_a_direct_one_does() {
    on_every_backend(async |place| {
        place.demo(30).await;
        // Longer than the pages take, and soon over for what is asserted at the end.
        let server = Server::start(&place, &[("keep_prepared", "2s")]).await;
        let whole = server.get(ROWS).await;
        let prepared = pages(&server, &format!("{ROWS}?limit=7&delivery=prepared")).await;
        assert_eq!(prepared, (whole.text().to_owned(), 5));
        let direct = next(&server.get(&format!("{ROWS}?limit=7")).await).expect("there are more");
        let others = [("&format=xlsx", vec![]), ("&format=ndjson", vec![("Via", "1.0 old")])];
        for (parameter, headers) in others {
            let path = format!("{ROWS}?limit=7{parameter}");
            let page = server.request(Method::GET, &path, &headers).await;
            assert!(page.header("content-length").is_some(), "{parameter} was built first");
            let link = next(&page).expect("there are more");
            assert_eq!(token(&link), token(&direct), "{parameter}");
            assert!(link.contains(&parameter[1..]), "{link}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_summary_of_a_page_and_its_link_name_the_same_place() {
    on_every_backend(async |place| {
        place.demo(30).await;
        let server = Server::start(&place, &[]).await;
        let page = server.get(&format!("{ROWS}?limit=7&summary=true")).await;
        let link = next(&page).expect("there are more");
        let last = page.text().lines().last().expect("a summary");
        let summary: Json = serde_json::from_str(last).expect("JSON");
        assert_eq!(summary["_summary"]["next"], token(&link));
        assert!(link.contains("limit=7") && link.contains("summary=true"), "{link}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_token_that_was_changed_or_belongs_elsewhere_is_refused() {
    on_every_backend(async |place| {
        place.demo(30).await;
        place.report("other", "from = \"merchants\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n");
        let server = Server::start(&place, &[]).await;
        let page = server.get(&format!("{ROWS}?limit=7&kind=payment&method=x&method=y")).await;
        assert_eq!(next(&page), None);
        let page = server.get(&format!("{ROWS}?limit=7&kind=payment")).await;
        let link = next(&page).expect("there are more");
        let token = token(&link);
        let middle = token.len() / 2;
        let digit = if token.as_bytes()[middle] == b'7' { "6" } else { "7" };
        let changed = format!("{}{digit}{}", &token[..middle], &token[middle + 1..]);
        let refused = [
            format!("{ROWS}?kind=payment&after={changed}"),
            format!("{ROWS}?kind=payment&after={}", &token[..token.len() - 2]),
            format!("{ROWS}?kind=payment&after={}", &token[..token.len() - 1]),
            format!("{ROWS}?kind=payment&after=page2"),
            format!("{ROWS}?kind=refund&after={token}"),
            format!("{ROWS}?after={token}"),
            format!("{ROWS}?kind=payment&min_gross=1&after={token}"),
            format!("/api/v1/reports/other/rows?after={token}"),
        ];
        for path in refused {
            let answer = server.get(&path).await;
            assert_eq!(answer.problems(), [("after".to_owned(), "bad_cursor".to_owned())], "{path}");
        }
        // The format, the columns and the size of the page may change on the way.
        let rest = server.get(&format!("{ROWS}?kind=payment&format=csv&columns=id&after={token}")).await;
        assert_eq!(rest.status, 200, "{}", rest.text());
        server.stop().await;
    })
    .await;
}

/// A table whose order has ties, both directions and, if so wished, NULL.
async fn make(place: &Place, nulls: bool) {
    let nothing = if nulls { "NULL" } else { "0" };
    let kind = place.backend().pick("text", "timestamptz", "datetime(6)");
    let exact = place.backend().pick("text", "numeric", "decimal(10, 1)");
    place
        .execute(&format!("CREATE TABLE p (id bigint PRIMARY KEY, v int, d {exact}, at {kind})"))
        .await;
    let rows: Vec<String> = (1..=60)
        .map(|id| {
            let v = if id % 5 == 0 { nothing.to_owned() } else { (id % 3).to_string() };
            format!(
                "({id}, {v}, {}.5, '2026-01-0{} 00:00:00.00000{}+00:00')",
                id % 4,
                id % 7 + 1,
                id % 2
            )
        })
        .collect();
    let insert = format!("INSERT INTO p VALUES {}", rows.join(", "));
    place.execute(&place.moments(&insert)).await;
}

fn ordered(order: &str) -> String {
    let column =
        |(key, kind): (&str, &str)| format!("[[columns]]\nkey = \"{key}\"\ntype = \"{kind}\"\n");
    let columns = [("id", "int"), ("v", "int"), ("d", "decimal"), ("at", "time")].map(column);
    format!("from = \"p\"\norder_by = {order}\n{}", columns.concat())
}

#[tokio::test]
async fn ties_and_mixed_directions_lose_no_row() {
    on_every_backend(async |place| {
        make(&place, false).await;
        let orders = [
            r#"["v", "id"]"#,
            r#"["v desc", "id"]"#,
            r#"["at", "v desc", "id"]"#,
            r#"["d desc", "id desc"]"#,
            r#"["id desc"]"#,
        ];
        for (index, order) in orders.iter().enumerate() {
            place.report(&format!("p{index}"), &ordered(order));
        }
        let server = Server::start(&place, &[]).await;
        for (index, order) in orders.iter().enumerate() {
            let path = format!("/api/v1/reports/p{index}/rows?columns=id");
            let whole = server.get(&path).await;
            assert_eq!(whole.text().lines().count(), 60);
            let (all, _) = pages(&server, &format!("{path}&limit=7")).await;
            assert_eq!(all, whole.text(), "{order}");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn where_null_orders_rows_pages_are_whole_or_refused_and_never_cut() {
    on_every_backend(async |place| {
        make(&place, true).await;
        for (name, order) in [("up", r#"["v", "id"]"#), ("down", r#"["v desc", "id"]"#)] {
            place.report(name, &ordered(order));
        }
        let server = Server::start(&place, &[]).await;
        for name in ["up", "down"] {
            let first = format!("/api/v1/reports/{name}/rows?columns=id");
            let whole = server.get(&first).await;
            let mut all = String::new();
            let mut path = Some(format!("{first}&limit=5"));
            while let Some(address) = path {
                let page = server.get(&address).await;
                if page.status != 200 {
                    let problem = page.problem(422, "invalid_request");
                    assert_eq!(problem["problems"][0]["code"], "null_in_order", "{problem}");
                    break;
                }
                all += page.text();
                path = next(&page);
                assert!(
                    path.is_some() || all == whole.text(),
                    "{name}: a last page before the end"
                );
            }
            assert!(whole.text().starts_with(&all), "{name}: the rows so far, in their order");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_report_without_an_order_cannot_be_paged() {
    on_every_backend(async |place| {
        make(&place, false).await;
        place.report("heap", "from = \"p\"\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n");
        let server = Server::start(&place, &[]).await;
        let path = "/api/v1/reports/heap/rows";
        assert_eq!(server.get(path).await.text().lines().count(), 60);
        let refused = server.get(&format!("{path}?limit=5")).await;
        assert_eq!(refused.problems(), [("limit".to_owned(), "unordered_report".to_owned())]);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_fails_is_a_problem_whose_run_failed() {
    on_every_backend(async |place| {
        let sql = place.backend().pick(
            "with recursive g(id) as (select 1 union all select id + 1 from g where id < 9000) \
             select id, case when id = 5001 then 'x' else 1 end as x from g",
            "select id, 1 / (5001 - id) as x from generate_series(1, 9000) as g (id)",
            "select seq as id, abs(if(seq = 5001, -9223372036854775807 - 1, 0)) as x \
             from seq_1_to_9000",
        );
        place.report(
            "fails",
            &format!(
                "sql = \"{sql}\"\norder_by = [\"id\"]\n[[columns]]\nkey = \"id\"\ntype = \"int\"\n\
                 [[columns]]\nkey = \"x\"\ntype = \"int\"\n"
            ),
        );
        let server = Server::start(&place, &[]).await;
        let answer = server.get("/api/v1/reports/fails/rows?limit=9000").await;
        let code = place.backend().pick("undecodable_value", "query_failed", "query_failed");
        let problem = answer.problem(500, code);
        assert!(!problem.to_string().to_lowercase().contains("division"), "SQL stays in the log");
        let run = server.run(&answer.run()).await;
        assert_eq!((&run["state"], &run["error"]["code"]), (&"failed".into(), &code.into()));
        server.stop().await;
    })
    .await;
}
