//! Tests of the pump's parts without a database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::FLUSH_ROWS;
use super::batch::{PATIENCE, Shared};
use super::channel::Channel;
use super::coding::{Coder, Coding};
use super::line::{Outlet, Output};
use super::{Encoding, Written};
use crate::error::{Error, Phase};
use crate::formats::{self, Format, Options};
use crate::rows::{Column, Kind, Look, Value};
use crate::runs::{Progress, Reason, Stop};

fn encoder() -> formats::FormatEncoder {
    let column =
        Column { key: "n".into(), title: "N".into(), kind: Kind::Int, look: Look::default() };
    formats::encoder(Format::Ndjson, &[column], &Options::default())
}

fn shared(outlet: Outlet, coding: Coding) -> Shared {
    let encoding = Encoding::Known(encoder());
    Shared::new(
        encoding,
        Coder::new(coding).unwrap(),
        outlet,
        Arc::new(Progress::default()),
        FLUSH_ROWS,
    )
}

fn taken(channel: &Channel) -> Option<Bytes> {
    futures::executor::block_on(async {
        futures::select_biased! {
            chunk = Box::pin(futures::FutureExt::fuse(channel.next())) => chunk?.ok(),
            () = futures::future::ready(()) => None,
        }
    })
}

#[test]
fn a_batch_leaves_at_its_thousandth_row_and_not_before() {
    let channel = Arc::new(Channel::new(Arc::default()));
    let shared = shared(Outlet::Channel(Arc::clone(&channel)), Coding::Identity);
    shared.begin().unwrap();
    for number in 1..FLUSH_ROWS {
        assert!(!shared.row(&[Value::Int(i64::try_from(number).unwrap())]).unwrap());
    }
    assert!(taken(&channel).is_none());
    assert!(shared.row(&[Value::Int(1_000)]).unwrap());
    let chunk = taken(&channel).unwrap();
    assert_eq!(chunk.iter().filter(|byte| **byte == b'\n').count(), 1_000);
}

#[test]
fn an_encoder_that_waits_for_its_columns_is_made_when_they_are_named_and_never_without() {
    let channel = Arc::new(Channel::new(Arc::default()));
    let outlet = || Outlet::Channel(Arc::clone(&channel));
    let awaiting = |outlet| {
        let encoding = Encoding::Awaiting(Format::Csv, Options::default());
        Shared::new(
            encoding,
            Coder::new(Coding::Identity).unwrap(),
            outlet,
            Arc::default(),
            FLUSH_ROWS,
        )
    };
    let shared = awaiting(outlet());
    shared.begin().unwrap();
    let column =
        Column { key: "n".into(), title: "N".into(), kind: Kind::Text, look: Look::default() };
    shared.columns(std::slice::from_ref(&column)).unwrap();
    shared.row(&[Value::Text("007")]).unwrap();
    assert!(shared.columns(&[column]).is_err(), "they are named once");
    shared.finish(&|| Ok(())).unwrap();
    assert_eq!(taken(&channel).unwrap(), "N\r\n007\r\n");
    let shared = awaiting(outlet());
    shared.begin().unwrap();
    assert!(shared.finish(&|| Ok(())).is_err(), "an answer without columns is none");
}

#[test]
fn a_row_leaves_when_it_has_waited_long_enough_while_the_source_gives_nothing() {
    let channel = Arc::new(Channel::new(Arc::default()));
    let shared = shared(Outlet::Channel(Arc::clone(&channel)), Coding::Identity);
    shared.begin().unwrap();
    assert_eq!(shared.patience(), PATIENCE);
    shared.row(&[Value::Int(1)]).unwrap();
    shared.send_late().unwrap();
    assert!(taken(&channel).is_none(), "too early");
    while !shared.patience().is_zero() {
        std::thread::sleep(shared.patience());
    }
    shared.send_late().unwrap();
    assert_eq!(taken(&channel).unwrap(), "{\"n\":1}\n");
    assert_eq!(shared.patience(), PATIENCE, "an empty batch is in no hurry");
}

#[test]
fn every_flush_of_a_coding_can_be_read_to_its_end() {
    for coding in [Coding::Gzip, Coding::Zstd] {
        let channel = Arc::new(Channel::new(Arc::default()));
        let shared = shared(Outlet::Channel(Arc::clone(&channel)), coding);
        shared.begin().unwrap();
        let mut sent = Vec::new();
        for number in 0..FLUSH_ROWS {
            shared.row(&[Value::Int(i64::try_from(number).unwrap())]).unwrap();
        }
        sent.extend_from_slice(&taken(&channel).unwrap());
        let lines = |plain: &[u8]| plain.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines(&decode(coding, &sent)), 1_000, "{coding:?}");
        shared.row(&[Value::Int(7)]).unwrap();
        let (rows, written) = shared.finish(&|| Ok(())).unwrap();
        shared.put(shared.tail(Some("last\n")).unwrap()).unwrap();
        while let Some(chunk) = taken(&channel) {
            sent.extend_from_slice(&chunk);
        }
        let plain = decode(coding, &sent);
        assert!(plain.ends_with(b"{\"n\":7}\nlast\n"), "{coding:?}");
        assert_eq!(written.bytes, plain.len() as u64 - 5, "the last line is not counted");
        assert_eq!(rows, 1_001);
    }
}

/// What can be decoded of a stream that may not have ended.
fn decode(coding: Coding, coded: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut plain = Vec::new();
    let mut reader: Box<dyn Read + '_> = match coding {
        Coding::Gzip => Box::new(flate2::read::GzDecoder::new(coded)),
        Coding::Zstd => Box::new(zstd::stream::read::Decoder::new(coded).unwrap()),
        Coding::Identity => Box::new(coded),
    };
    let mut block = [0; 4_096];
    while let Ok(count @ 1..) = reader.read(&mut block) {
        plain.extend_from_slice(&block[..count]);
    }
    plain
}

#[test]
fn a_full_channel_holds_the_pump_until_the_receiver_takes() {
    let channel = Arc::new(Channel::new(Arc::default()));
    channel.push(Bytes::from_static(b"1"));
    channel.push(Bytes::from_static(b"2"));
    let taker = Arc::clone(&channel);
    let began = Instant::now();
    let taking = std::thread::spawn(move || {
        while began.elapsed() < Duration::from_millis(30) {
            std::thread::yield_now();
        }
        taken(&taker)
    });
    channel.room(None, &Stop::new()).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(30), "{:?}", began.elapsed());
    assert_eq!(taking.join().unwrap().unwrap(), "1");
}

#[test]
fn a_receiver_that_asks_for_nothing_is_given_up_as_stalled() {
    let channel = Channel::new(Arc::default());
    let stop = Stop::new();
    channel.push(Bytes::from_static(b"1"));
    let limit = Duration::from_millis(60);
    let ended = channel.wait(0, Some(limit), &stop);
    assert!(matches!(ended, Err(Error::TimedOut(Phase::Stall, _))), "{ended:?}");
    assert_eq!(stop.reason(), Some(Reason::Stalled(limit)));
}

#[test]
fn what_waits_is_given_out_before_the_error_and_the_error_once() {
    let channel = Channel::new(Arc::default());
    channel.push(Bytes::from_static(b"1"));
    channel.push(Bytes::new());
    channel.end(Err(Error::Cancelled));
    let mut seen = Vec::new();
    futures::executor::block_on(async {
        for _ in 0..2 {
            seen.push(channel.next().await);
        }
    });
    assert!(
        matches!(&seen[..], [Some(Ok(chunk)), Some(Err(Error::Cancelled))] if chunk == "1"),
        "{seen:?}"
    );
}

#[test]
fn a_full_disk_is_told_apart_from_a_reader_who_left() {
    struct Failing(std::io::ErrorKind);
    impl std::io::Write for Failing {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl Output for Failing {
        fn commit(&mut self, _: &Written) -> std::io::Result<()> {
            Ok(())
        }
    }
    let ended = |kind| {
        let shared = shared(Outlet::Writer(Box::new(Failing(kind))), Coding::Identity);
        shared.begin().unwrap();
        shared.row(&[Value::Int(1)]).unwrap();
        shared.finish(&|| Ok(())).unwrap_err()
    };
    assert!(matches!(ended(std::io::ErrorKind::StorageFull), Error::NoSpace(_)));
    assert!(matches!(ended(std::io::ErrorKind::BrokenPipe), Error::Cancelled));
}
