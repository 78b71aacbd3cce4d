//! Tests of how settings become lines of a configuration; whether nginx reads it is seen in
//! `tests/it`.

use std::time::Duration;

use super::{Site, nginx, size, time, upstream};
use crate::config::{Auth, Config, Given};

fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Given::default().settle().unwrap();
    change(&mut config);
    config
}

fn site(names: &[&str]) -> Site {
    Site { port: 8443, server_names: names.iter().map(|name| (*name).to_owned()).collect() }
}

/// The values of a directive, comments aside.
fn values<'t>(text: &'t str, directive: &str) -> Vec<&'t str> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let value = |line: &'t str| line.strip_prefix(directive)?.strip_prefix(' ')?.strip_suffix(';');
    lines.filter_map(value).collect()
}

#[test]
fn nothing_of_the_template_is_left_to_fill() {
    for auth in [Auth::Off, Auth::Required] {
        let text = nginx(&config(|config| config.auth = auth), &site(&[])).unwrap();
        assert!(!text.contains("{{") && !text.contains("}}"), "{text}");
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
    }
}

#[test]
fn the_time_outs_outlast_those_of_the_server() {
    let text = nginx(
        &config(|config| {
            config.stall_timeout = Duration::from_secs(7);
            config.queue_wait = Duration::from_millis(1_500);
            config.first_row_timeout = Duration::from_secs(3);
            config.listen = "0.0.0.0:9000".into();
        }),
        &site(&[]),
    )
    .unwrap();
    assert_eq!(values(&text, "send_timeout"), ["37s"]);
    assert_eq!(values(&text, "proxy_read_timeout"), ["3604500ms"]);
    assert_eq!(values(&text, "server"), ["127.0.0.1:9000"]);
    // The upstream's; the server waits for 5 s.
    assert_eq!(values(&text, "keepalive_timeout"), ["4s"]);
    assert!(text.contains("after 7s (stall_timeout)"), "{text}");
}

#[test]
fn an_open_server_is_open_to_its_machine_alone_behind_nginx_too() {
    let open = nginx(&config(|config| config.auth = Auth::Off), &site(&[])).unwrap();
    assert_eq!(values(&open, "listen"), ["127.0.0.1:8443 sndbuf=512k"]);
    assert_eq!(values(&open, "deny"), ["all"]);
    assert!(!values(&open, "proxy_set_header").iter().any(|value| value.starts_with("X-")));
    let keyed = nginx(&config(|config| config.auth = Auth::Required), &site(&[])).unwrap();
    assert_eq!(values(&keyed, "listen"), ["8443 sndbuf=512k"]);
    assert!(values(&keyed, "deny").is_empty());
    let sent = values(&keyed, "proxy_set_header");
    assert!(sent.iter().any(|value| value.starts_with("X-Forwarded-For ")), "{sent:?}");
}

#[test]
fn the_server_is_found_where_it_listens() {
    for (listen, wanted) in [
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("0.0.0.0:80", "127.0.0.1:80"),
        ("[::]:80", "[::1]:80"),
        ("10.0.0.7:8080", "10.0.0.7:8080"),
        ("localhost:8080", "localhost:8080"),
    ] {
        assert_eq!(upstream(listen).unwrap(), wanted, "{listen}");
    }
    for listen in ["127.0.0.1:0", "[::]:0", "localhost:0", "localhost", "a;b:80", ":80", "a:b"] {
        assert!(upstream(listen).is_err(), "{listen}");
    }
}

#[test]
fn a_name_is_a_name_and_no_directive() {
    let named = |names: &[&str]| nginx(&config(|_| ()), &site(names));
    let text = named(&["reports.example.com", "*.example.org"]).unwrap();
    assert_eq!(values(&text, "server_name"), ["reports.example.com *.example.org"]);
    assert_eq!(values(&named(&[]).unwrap(), "server_name"), ["_"]);
    for name in ["_", "*.a.b", ".a.b", "a.b.*", "a_b-1", "127.0.0.1"] {
        assert_eq!(values(&named(&[name]).unwrap(), "server_name"), [name]);
    }
    let refused = [
        "",
        "a b",
        "a; return 200",
        "a{",
        "$host",
        "*",
        "**",
        "*.",
        ".*",
        ".",
        "a..b",
        "*a.b",
        "a.*.b",
        "*.a.*",
        "a.",
        "a*",
        "~^a",
    ];
    for name in refused {
        let said = named(&[name]).unwrap_err().detail();
        assert!(said.contains("*.example.com, reports.* or _ for any"), "{name}: {said}");
    }
}

#[test]
fn times_and_sizes_are_written_as_nginx_reads_them() {
    assert_eq!(time(Duration::from_secs(90)), "90s");
    assert_eq!(time(Duration::from_millis(1_500)), "1500ms");
    assert_eq!(size(512 << 20), "512m");
    assert_eq!(size(64 << 10), "64k");
    assert_eq!(size(1_000), "1000");
}
