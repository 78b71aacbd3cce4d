//! What the page says of what is wrong.

use reqwest::Method;

use super::assert_page;
use super::browser::{Tag, form, sent, tags};
use crate::support::{Server, on_every_backend};

#[tokio::test]
async fn what_is_wrong_is_said_in_words_beside_its_field_with_what_was_typed() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let query = "from=31%2F12%2F2026&min_gross=much&colour=red&kind=payment&columns=net&tz=Mars\
                     &method=&merchant=1&merchant=x&delimiter=%3B";
        let answer = server.get(&format!("/reports/settlements/download?format=csv&{query}")).await;
        assert_page(&answer, 400);
        assert_eq!(answer.header("x-run-id"), None, "nothing was begun");
        let all = tags(answer.text());
        let strict = query.replace("&method=", "");
        let problem = server.get(&format!("/api/v1/reports/settlements/rows?{strict}")).await;
        let problem = problem.problem(400, "malformed_request");
        let problems = problem["problems"].as_array().expect("a list");
        assert_eq!(problems.len(), 5, "{problem}");
        for problem in problems {
            let detail = problem["detail"].as_str().expect("words");
            let name = problem["parameter"].as_str().expect("a parameter");
            if name == "colour" {
                assert!(all.iter().any(|tag| tag.name == "li" && tag.text == detail), "{detail}");
                continue;
            }
            let listed = all.iter().position(|tag| tag.name == "/a" && tag.text.ends_with(detail));
            let target = all[listed.expect("it is listed") - 1].get("href").expect("a target");
            let fields: Vec<_> = all.iter().filter(|tag| tag.is("input", "name", name)).collect();
            assert_eq!(fields[0].get("id").map(|id| format!("#{id}")).as_deref(), Some(target));
            let (wrong, right): (Vec<&Tag>, Vec<&Tag>) =
                fields.into_iter().partition(|tag| tag.get("value") == problem["value"].as_str());
            assert_eq!(wrong.len(), 1, "{name} is kept as it was typed");
            assert_eq!(wrong[0].get("aria-invalid"), Some("true"), "{name}");
            assert_eq!(wrong[0].get("type"), Some("text"), "a browser shows it whatever it is");
            assert!(right.iter().all(|tag| tag.get("aria-invalid").is_none()), "{name}");
            assert!(all.iter().any(|tag| tag.is("p", "class", "fault") && tag.text == detail));
        }
        let field = |name: &str| {
            let fields = all.iter().filter(|tag| tag.get("name") == Some(name));
            fields.filter_map(|tag| tag.get("value")).collect::<Vec<_>>()
        };
        assert_eq!(field("from"), ["31/12/2026"]);
        assert_eq!(field("merchant"), ["1", "x", ""], "and one more to be typed into");
        assert_eq!(field("kind"), ["payment"]);
        let net = all.iter().find(|tag| tag.is("input", "value", "net")).expect("a box");
        assert!(net.get("checked").is_some());
        // What was wrong is mended in the form that came back.
        let form = form(answer.text(), "settlements");
        let kept = sent(&form, &[], "csv");
        for pair in ["kind=payment", "columns=net", "delimiter=%3B"] {
            assert!(kept.contains(pair), "{pair}: {kept}");
        }
        assert!(!kept.contains("colour"), "{kept}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn refusals_are_pages_where_the_page_is_and_problems_everywhere_else() {
    on_every_backend(async |place| {
        place.demo(5).await;
        let server = Server::start(&place, &[]).await;
        let none = server.get("/reports/none/download").await;
        assert_page(&none, 404);
        assert!(none.text().contains("there is no report &quot;none&quot;"), "{}", none.text());
        let request = none.header("x-request-id").expect("an id");
        assert!(none.text().contains(request), "the page names the request");
        let posted = server.request(Method::POST, "/", &[]).await;
        assert_page(&posted, 405);
        assert_eq!(posted.header("allow"), Some("GET, HEAD"));
        let accept = [("Accept", "application/pdf")];
        let path = "/reports/settlements/download";
        assert_page(&server.request(Method::GET, path, &accept).await, 406);
        assert_page(&server.request(Method::GET, path, &[("X-Real-IP", "203.0.113.1")]).await, 403);
        for path in ["/nothing", "/api/v1/reports/none", "/api/v1/reports/none/download"] {
            server.get(path).await.problem(404, "not_found");
        }
        server.stop().await;

        let server = Server::start(&place, &[("auth", "required")]).await;
        for path in ["/", "/reports/settlements/download"] {
            let answer = server.get(path).await;
            assert_page(&answer, 401);
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert!(!answer.text().contains("settlements"), "nothing is told");
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn definitions_at_fault_are_named_by_their_place() {
    on_every_backend(async |place| {
        place.demo(5).await;
        place
            .report("bad", "from = \"merchants\"\n[[columns]]\nkey = \"id\"\ntype = \"integer\"\n");
        let server = Server::start(&place, &[]).await;
        let home = server.get("/").await;
        assert_page(&home, 200);
        let named = tags(home.text())
            .iter()
            .any(|tag| tag.name == "code" && tag.text == "reports/bad.toml:4");
        assert!(named, "{}", home.text());
        server.stop().await;
    })
    .await;
}
