//! Tests of what HTTP decides without a server.

use super::disposition::{asked_name, attachment};
use super::gate::is_loopback;
use super::negotiation::choose_for_tests as choose;
use super::negotiation::received_without_chunks_for_tests as received_without_chunks;
use super::prefer::is_async_for_tests as is_async;
use super::range::{Wanted, names as tags_name, range};
use crate::formats::Format;
use crate::names::safe_name;

const NAMES: &str =
    include_str!("../../tests/fixtures/041-download-content-disposition/names.json");

fn names() -> Vec<String> {
    serde_json::from_str(NAMES).unwrap()
}

/// What a compliant client makes of `filename*`.
fn decoded(header: &str) -> Option<String> {
    let value = header.split("filename*=UTF-8''").nth(1)?;
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[test]
fn a_download_name_is_one_ascii_header_that_decodes_to_the_safe_name() {
    for name in names() {
        let header = attachment(&name);
        assert!(header.is_ascii() && !header.contains(['\r', '\n', '\0']), "{header}");
        assert!(header.starts_with("attachment; filename=\""), "{header}");
        let fallback = header.split('"').nth(1).unwrap();
        assert!(!fallback.contains(['"', '\\', '%']), "{header}");
        assert_eq!(decoded(&header).unwrap(), safe_name(&name), "{header}");
        // Nothing from inside the name is a further parameter.
        assert_eq!(header.matches(';').count(), 2, "{header}");
    }
}

#[test]
fn a_download_name_keeps_its_base_its_ending_and_its_composed_letters() {
    let safe: Vec<_> = names().iter().map(|name| safe_name(name)).collect();
    assert_eq!(safe[2], "한글파일.xlsx");
    assert_eq!(safe[12..15], ["passwd", "a.txt", "download"]);
    assert!(safe[15].len() <= 255 && safe[15].ends_with("가.pdf"), "{}", safe[15]);
    assert_eq!(safe[17], "rtlgpj.exe");
    assert_eq!(safe[20], "lead and trail .txt");
}

#[test]
fn accept_chooses_by_quality_then_by_exactness_then_by_order() {
    let format = |accept: &str| choose(accept).map(|chosen| chosen.format);
    for (accept, wanted) in [
        ("*/*", Some(Format::Ndjson)),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Some(Format::Ndjson)),
        ("application/json", Some(Format::Json)),
        ("application/json, text/plain, */*", Some(Format::Json)),
        ("text/csv, application/json", Some(Format::Csv)),
        ("text/csv;q=0.5, application/json", Some(Format::Json)),
        ("application/*", Some(Format::Ndjson)),
        ("text/*", Some(Format::Csv)),
        ("application/x-ndjson;q=0, */*", Some(Format::Json)),
        ("application/pdf", None),
        ("text/csv;q=0", None),
    ] {
        assert_eq!(format(accept), wanted, "{accept}");
    }
}

#[test]
fn ndjson_goes_under_the_name_that_was_asked_for() {
    assert_eq!(choose("application/jsonl").unwrap().media_type, "application/jsonl");
    assert_eq!(choose("application/x-ndjson").unwrap().media_type, "application/x-ndjson");
}

#[test]
fn a_hop_without_chunks_is_told_by_the_version_that_it_received() {
    for hop in ["1.0 proxy", " HTTP/1.0 proxy:80 (Apache)", "0.9 nginx", "http/1.0 x", "1.0"] {
        assert!(received_without_chunks(hop), "{hop}");
    }
    for hop in ["", "1.1 nginx", "2.0 nginx", "HTTP/1.1 x", "SPDY/1.0 x", "proxy 1.0"] {
        assert!(!received_without_chunks(hop), "{hop}");
    }
}

#[test]
fn loopback_is_told_by_address_and_by_localhost_alone() {
    for host in [
        "127.0.0.1",
        "127.0.0.1:8080",
        "127.9.9.9",
        "localhost:80",
        "LOCALHOST",
        "[::1]:80",
        "[::1]",
    ] {
        assert!(is_loopback(host), "{host}");
    }
    for host in [
        "",
        "example.test",
        "127.0.0.1.example.test",
        "localhost.example.test",
        "10.0.0.1:80",
        "[::2]",
    ] {
        assert!(!is_loopback(host), "{host}");
    }
}

#[test]
fn a_name_that_was_asked_for_gets_its_ending_once_and_is_none_where_nothing_is_left() {
    let named = |name: &str| asked_name(name, "csv");
    for (name, wanted) in [
        ("march", "march.csv"),
        ("march.CSV", "march.csv"),
        ("march.csv.", "march.csv"),
        ("3월", "3월.csv"),
        ("a/b", "b.csv"),
    ] {
        assert_eq!(named(name).as_deref(), Some(wanted), "{name}");
    }
    for name in ["", "  ", "..", "a\"b\\.csv", ".csv", "\u{202E}"] {
        assert_eq!(named(name), None, "{name:?}");
    }
}

#[test]
fn a_range_is_a_part_or_the_whole_and_refused_only_where_it_lies_outside() {
    let part = |first, last| Wanted::Part(first, last);
    for (header, wanted) in [
        ("bytes=0-499", part(0, 499)),
        ("bytes=500-", part(500, 999)),
        ("bytes=-500", part(500, 999)),
        ("bytes=999-999", part(999, 999)),
        ("bytes=0-999999", part(0, 999)),
        ("bytes=-2000", part(0, 999)),
        ("bytes=-0", Wanted::Beyond),
        ("bytes=1000-", Wanted::Beyond),
        ("bytes=1000-2000", Wanted::Beyond),
        ("bytes=5-2", Wanted::Whole),
        ("bytes=abc", Wanted::Whole),
        ("bytes=", Wanted::Whole),
        ("items=0-5", Wanted::Whole),
        ("BYTES=0-1", Wanted::Whole),
        ("bytes = 0-1", Wanted::Whole),
        ("bytes=0-10,20-30", Wanted::Whole),
        ("bytes=0-10,9999-10000", Wanted::Whole),
        ("bytes=9999-10000,20000-", Wanted::Beyond),
        ("bytes=18446744073709551615-", Wanted::Beyond),
        ("bytes=0-18446744073709551616", part(0, 999)),
        ("bytes=-", Wanted::Whole),
        ("bytes=+1-2", Wanted::Whole),
    ] {
        assert_eq!(range(Some(header), 1_000), wanted, "{header}");
    }
    assert_eq!(range(None, 1_000), Wanted::Whole);
    assert_eq!(range(Some("bytes=0-"), 0), Wanted::Beyond);
}

#[test]
fn a_weak_tag_names_a_file_for_a_cache_and_not_for_a_change() {
    assert!(tags_name("\"a\", \"b\"", "\"b\"", false) && tags_name("*", "\"b\"", false));
    assert!(!tags_name("W/\"b\"", "\"b\"", false) && tags_name("W/\"b\"", "\"b\"", true));
    assert!(!tags_name("\"c\"", "\"b\"", true));
}

#[test]
fn a_preference_is_found_among_others_and_never_a_fault() {
    for lines in [
        &["respond-async"][..],
        &["Respond-Async"],
        &["return=minimal, respond-async"],
        &["return=minimal", "wait=10,respond-async;a=b; c"],
        &["handling=\"a, \\\", b\" , respond-async"],
        &["respond-async=\"\""],
        &[",, ;x, respond-async"],
    ] {
        assert!(is_async(lines), "{lines:?}");
    }
    for lines in [
        &[][..],
        &[""],
        &["respond-asynchronously"],
        &["return=\"x, respond-async, y\""],
        &["wait=10; respond-async"],
        &["respond-async=false"],
        // The first one counts.
        &["respond-async=no, respond-async"],
        &["x=\"respond-async", "y\""],
    ] {
        assert!(!is_async(lines), "{lines:?}");
    }
}
