//! Archives read by a library.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::{Directory, Whole};

fn packed(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut directory, mut out) = (Directory::default(), Vec::new());
    for (path, content) in entries {
        let whole = Whole::new(path.clone(), content.clone()).unwrap();
        directory.put(&whole, &mut out);
    }
    directory.write(&mut out);
    out
}

#[test]
fn whole_entries_come_back_as_they_were_in_order() {
    let entries = [
        ("보고서 1.pdf".to_owned(), b"%PDF-1.7".repeat(1_000)),
        ("empty".to_owned(), Vec::new()),
        ("manifest.json".to_owned(), b"{}".to_vec()),
    ];
    let out = packed(&entries);
    assert_eq!(out, packed(&entries), "the same entries give the same bytes");
    let mut archive = ZipArchive::new(Cursor::new(out)).unwrap();
    assert_eq!(archive.len(), entries.len());
    for (index, (path, content)) in entries.iter().enumerate() {
        let mut entry = archive.by_index(index).unwrap();
        let mut read = Vec::new();
        entry.read_to_end(&mut read).unwrap();
        assert_eq!((&*entry.name().unwrap(), &read), (path.as_str(), content));
        assert_eq!(entry.last_modified().unwrap().to_string(), "1980-01-01 00:00:00");
    }
}

#[test]
fn names_that_are_not_ascii_say_so_before_the_entry_and_in_the_directory() {
    for (path, flag) in [("가.pdf", 8), ("a.pdf", 0)] {
        let out = packed(&[(path.to_owned(), b"x".to_vec())]);
        assert_eq!(out[7], flag, "{path}");
        let listed = out.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        assert_eq!(out[listed + 9], flag, "{path}");
    }
}

#[test]
fn there_may_be_more_than_65_535_entries() {
    let entries: Vec<_> =
        (0..65_540).map(|number| (format!("{number}.txt"), number.to_string().into())).collect();
    let mut archive = ZipArchive::new(Cursor::new(packed(&entries))).unwrap();
    assert_eq!(archive.len(), 65_540);
    let mut read = String::new();
    archive.by_name("65539.txt").unwrap().read_to_string(&mut read).unwrap();
    assert_eq!(read, "65539");
}

#[test]
fn a_path_of_64_kib_is_refused() {
    assert!(Whole::new("x".repeat(65_535), Vec::new()).is_ok());
    let error = Whole::new("x".repeat(65_536), Vec::new()).unwrap_err();
    assert_eq!(error.code(), "internal");
}
