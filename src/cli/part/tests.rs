//! Many writers of one file, and some that die.

use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::*;

const WRITERS: usize = 8;
const ROUNDS: usize = 150;

fn whole() -> Written {
    Written { bytes: 0, sha256: String::new() }
}

/// Ends a file as the death of its process does: unlocked, and where it was.
fn die(mut file: PartFile) {
    file.part = file.part.with_extension("nobody");
}

#[test]
fn of_many_writers_one_at_a_time_has_the_file_also_while_some_die() {
    let directory = TempDir::new().unwrap();
    let target = directory.path().join("out.csv");
    let (writing, wrote) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let round = |writer: usize, round: usize| {
        let Ok(mut file) = PartFile::create(target.clone(), None) else { return };
        assert_eq!(writing.fetch_add(1, Ordering::SeqCst), 0, "nobody else writes");
        let line = format!("{writer} {round}\n");
        for _ in 0..3 {
            file.write_all(line.as_bytes()).unwrap();
        }
        writing.fetch_sub(1, Ordering::SeqCst);
        match round % 3 {
            0 => {
                // From here on the next one may write.
                file.commit(&whole()).unwrap();
                let text = std::fs::read_to_string(&target).unwrap();
                let lines: Vec<_> = text.lines().collect();
                assert!(lines.len() == 3 && lines.iter().all(|line| *line == lines[0]), "{text}");
                wrote.fetch_add(1, Ordering::SeqCst);
            }
            1 => die(file),
            _ => drop(file),
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || (0..ROUNDS).for_each(|number| round(writer, number)));
        }
    });
    assert!(wrote.into_inner() > 0);
}

#[test]
fn a_part_that_was_taken_away_is_not_renamed_and_its_successor_is_not_removed() {
    let directory = TempDir::new().unwrap();
    let target = directory.path().join("out.csv");
    let part = directory.path().join("out.csv.part");
    let mut file = PartFile::create(target.clone(), None).unwrap();
    file.write_all(b"mine").unwrap();
    std::fs::remove_file(&part).unwrap();
    std::fs::write(&part, "another's").unwrap();
    let said = file.commit(&whole()).unwrap_err().to_string();
    assert!(said.contains("out.csv.part") && said.contains("export it again"), "{said}");
    drop(file);
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "another's");
    assert!(!target.exists());
}
