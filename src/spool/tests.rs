//! Tests of the spool over real directories.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use tempfile::TempDir;
use uuid::Uuid;

use super::{Share, Spool, Told, What};
use crate::delivery::{Output, Written};
use crate::error::Error;
use crate::runs::{Reason, Stop};

const LONG: Duration = Duration::from_hours(1);

fn told() -> Told {
    Told { media_type: "text/csv".into(), name: "a.csv".into() }
}

fn written(bytes: u64) -> Written {
    Written { bytes, sha256: "ab".into() }
}

fn files(directory: &TempDir) -> usize {
    std::fs::read_dir(directory.path()).unwrap().count()
}

#[tokio::test]
async fn a_file_is_found_once_it_is_whole_and_is_the_owners_alone() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 100, LONG);
    let run = Uuid::now_v7();
    let mut file = spool.begin(run, What::File, told(), Stop::new()).unwrap();
    file.write_all(b"whole").unwrap();
    assert!(spool.find(run, What::File).is_none());
    file.commit(&written(5)).unwrap();
    drop(file);
    let kept = spool.find(run, What::File).unwrap();
    assert_eq!((kept.size(), kept.sha256(), spool.used()), (5, "ab", 5));
    assert_eq!(kept.open().unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    spool.forget(run);
    assert_eq!((files(&directory), spool.used()), (1, 5), "it is still being read");
    drop(kept);
    assert_eq!((files(&directory), spool.used()), (0, 0));
}

#[tokio::test]
async fn a_file_that_never_becomes_whole_is_gone() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 100, LONG);
    let mut file = spool.begin(Uuid::now_v7(), What::File, told(), Stop::new()).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!((files(&directory), spool.used()), (1, 4));
    drop(file);
    assert_eq!((files(&directory), spool.used()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_file_expires() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 100, LONG);
    let run = Uuid::now_v7();
    let mut file = spool.begin(run, What::File, told(), Stop::new()).unwrap();
    file.commit(&written(0)).unwrap();
    assert!(spool.find(run, What::File).is_some());
    tokio::time::sleep(LONG + Duration::from_secs(1)).await;
    assert!(spool.find(run, What::File).is_none());
    assert_eq!(files(&directory), 0);
}

#[tokio::test]
async fn a_build_beyond_the_cap_waits_for_room_and_one_beyond_it_alone_is_refused() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 10, LONG);
    let first = Uuid::now_v7();
    let mut file = spool.begin(first, What::File, told(), Stop::new()).unwrap();
    file.write_all(&[0; 8]).unwrap();
    file.commit(&written(8)).unwrap();
    drop(file);
    let mut second = spool.begin(Uuid::now_v7(), What::File, told(), Stop::new()).unwrap();
    let waiting = std::thread::spawn(move || second.write_all(&[0; 5]).map(|()| second));
    assert!(!waiting.is_finished());
    spool.forget(first);
    let mut second = waiting.join().unwrap().unwrap();
    assert_eq!(spool.used(), 5);
    let refused = Error::writing(second.write_all(&[0; 6]).unwrap_err());
    let Error::SpoolFull(detail) = &refused else { panic!("{refused:?}") };
    assert!(detail.contains("larger than spool_cap, 10 bytes"), "{detail}");
    assert!(detail.contains("delivery=direct"), "{detail}");
    assert_eq!(refused.code(), "no_space");
}

#[tokio::test]
async fn a_build_that_waits_for_room_ends_when_its_run_is_stopped() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 10, LONG);
    let mut full = spool.begin(Uuid::now_v7(), What::File, told(), Stop::new()).unwrap();
    full.write_all(&[0; 8]).unwrap();
    let stop = Stop::new();
    let mut file = spool.begin(Uuid::now_v7(), What::File, told(), stop.clone()).unwrap();
    stop.fire(Reason::ClientLeft);
    let refused = Error::writing(file.write_all(&[0; 5]).unwrap_err());
    assert!(matches!(refused, Error::Cancelled), "{refused:?}");
}

#[tokio::test]
async fn what_an_earlier_process_left_is_swept_and_nothing_else() {
    let directory = TempDir::new().unwrap();
    for name in ["1.part", "2.file", "lock", "mine.txt"] {
        std::fs::write(directory.path().join(name), "x").unwrap();
    }
    Spool::new(directory.path().into(), 10, LONG).sweep().unwrap();
    assert_eq!(files(&directory), 2);
}

#[tokio::test]
async fn a_build_that_its_own_source_leaves_no_room_for_is_refused_and_both_go() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 10, LONG);
    let mut upload = spool.take_in(Stop::new()).unwrap();
    upload.add(&[0; 6]).unwrap();
    let file = spool.begin(Uuid::now_v7(), What::File, told(), Stop::new()).unwrap();
    let mut file = file.made_of(std::sync::Arc::new(upload));
    file.write_all(&[0; 4]).unwrap();
    let refused = Error::writing(file.write_all(&[0; 1]).unwrap_err());
    let Error::SpoolFull(detail) = &refused else { panic!("{refused:?}") };
    assert!(detail.contains("smaller file"), "{detail}");
    drop(file);
    assert_eq!((files(&directory), spool.used()), (0, 0));
}

#[tokio::test]
async fn of_builds_that_would_wait_for_one_another_for_ever_one_is_given_up() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 10, LONG);
    let building: Vec<_> = (0..2)
        .map(|_| {
            let mut file = spool.begin(Uuid::now_v7(), What::File, told(), Stop::new()).unwrap();
            file.write_all(&[0; 5]).unwrap();
            file
        })
        .collect();
    let building: Vec<_> = building
        .into_iter()
        .map(|mut file| std::thread::spawn(move || file.write_all(&[0; 5])))
        .collect();
    let ended: Vec<_> = building.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1, "{ended:?}");
}

#[tokio::test]
async fn bundles_leave_half_of_the_room_to_everything_else() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 20, LONG);
    let begin = || spool.begin(Uuid::now_v7(), What::File, told(), Stop::new()).unwrap();
    let run = Uuid::now_v7();
    let bundle = spool.begin(run, What::File, told(), Stop::new()).unwrap();
    let mut bundle = bundle.of(Share::Bundles);
    bundle.write_all(&[0; 8]).unwrap();
    bundle.commit(&written(8)).unwrap();
    drop(bundle);
    let mut second = begin().of(Share::Bundles);
    second.write_all(&[0; 2]).unwrap();
    // Another file has room that a bundle has not.
    begin().write_all(&[0; 10]).unwrap();
    let waiting = std::thread::spawn(move || second.write_all(&[0; 3]).map(|()| second));
    assert!(!waiting.is_finished());
    spool.forget(run);
    let mut second = waiting.join().unwrap().unwrap();
    let refused = Error::writing(second.write_all(&[0; 6]).unwrap_err());
    let Error::SpoolFull(detail) = &refused else { panic!("{refused:?}") };
    assert!(detail.contains("10 bytes for all bundles together"), "{detail}");
    drop(second);
    assert_eq!(spool.used(), 0);
}

#[tokio::test]
async fn of_bundles_and_files_that_would_wait_for_one_another_one_is_given_up() {
    let directory = TempDir::new().unwrap();
    let spool = Spool::new(directory.path().into(), 20, LONG);
    let begin = |share, bytes: usize| {
        let file = spool.begin(Uuid::now_v7(), What::File, told(), Stop::new()).unwrap();
        let mut file = file.of(share);
        file.write_all(&vec![0; bytes]).unwrap();
        file
    };
    let building = [(Share::Bundles, 5), (Share::Bundles, 5), (Share::Any, 10)];
    let building: Vec<_> = building.into_iter().map(|(share, bytes)| begin(share, bytes)).collect();
    let building: Vec<_> = building
        .into_iter()
        .map(|mut file| std::thread::spawn(move || file.write_all(&[0; 5])))
        .collect();
    let ended: Vec<_> = building.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(ended.iter().any(Result::is_ok) && ended.iter().any(Result::is_err), "{ended:?}");
}
