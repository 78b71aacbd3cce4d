//! Bytes as an upload: whatever they are, the readers of `tallyroll::sheets` give rows in order or refuse
//! the file in words, and never call it a failure of ours.
//!
//! ```text
//! rustup toolchain install nightly
//! cargo install cargo-fuzz
//! mkdir -p fuzz/corpus/sheets
//! cargo +nightly fuzz run -s none sheets fuzz/corpus/sheets tests/fixtures -- -max_len=65536
//! ```
//!
//! The files of the tests are where it begins. Spreadsheets are read here in this process, where the
//! server has a child for them: a panic or an allocation without end of calamine's is what that child is
//! for, and so no finding. Panics of our own are.

#![no_main]
#![feature(alloc_error_hook)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as Told;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rustix::fs::{MemfdFlags, memfd_create};
use tallyroll::error::{Error, Result};
use tallyroll::runs::Stop;
use tallyroll::sheets::{Cell, Limits, Outline, SheetSink, Wanted, read_in_this_process};

/// Bytes that may be held at once; the child has a limit too.
const MEMORY: usize = 512 << 20;
const LIMITS: Limits = Limits {
    columns: 1_000,
    text: 1 << 20,
    inflated: 16 << 20,
    time: Duration::from_secs(60),
};

/// The system's, up to [`MEMORY`].
struct Bounded;

static HELD: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

// SAFETY: all is the system's, but for requests that get nothing.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if HELD.load(Ordering::Relaxed).saturating_add(layout.size()) > MEMORY {
            return std::ptr::null_mut();
        }
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

/// What is thrown where memory ends.
struct NoMemory;

thread_local! {
    /// Whether the panic under way is one of ours.
    static OURS: Told<bool> = const { Told::new(false) };
}

/// Puts what the fuzzer does about panics, which is to abort, behind what is done here.
fn listen_to_panics() {
    std::alloc::set_alloc_error_hook(|_| panic_any(NoMemory));
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |place| place.file());
        let ours = !panic.payload().is::<NoMemory>()
            && (file.contains("src/sheets/") || file.contains("fuzz_targets/"));
        OURS.set(ours);
        if ours {
            before(panic);
        }
    }));
}

/// Takes rows, and looks at what every sink relies on.
#[derive(Default)]
struct Sink {
    begun: bool,
    last: Option<u64>,
    /// How many keys were told; the first object may have none.
    keys: Option<usize>,
}

impl SheetSink for Sink {
    fn begin(&mut self, _outline: &Outline) -> Result<()> {
        assert!(!std::mem::replace(&mut self.begun, true), "begun once");
        Ok(())
    }

    fn keys(&mut self, keys: &[String]) -> Result<()> {
        let grow = self.keys.is_none_or(|before| before < keys.len());
        assert!(self.begun && grow, "keys only grow");
        self.keys = Some(keys.len());
        Ok(())
    }

    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<()> {
        assert!(self.begun, "begun before");
        assert!(number > 0 && self.last.is_none_or(|last| last < number), "numbers only grow");
        assert!(cells.len() <= LIMITS.columns as usize, "no more columns than may be");
        assert!(cells.last() != Some(&Cell::Empty), "nothing empty at the end");
        for cell in cells {
            if let Cell::Number(number) | Cell::Serial(number) | Cell::Duration(number) = cell {
                assert!(number.is_finite(), "a number is one");
            }
        }
        self.last = Some(number);
        Ok(())
    }
}

fn read(bytes: &[u8]) {
    let file = memfd_create("upload", MemfdFlags::CLOEXEC).expect("a file in memory");
    let mut file = File::from(file);
    file.write_all(bytes).expect("it can be written");
    let stop = Stop::new();
    let read =
        read_in_this_process(file, &Wanted::default(), &LIMITS, &stop, &mut Sink::default());
    match read {
        Ok(remarks) => assert!(remarks.iter().all(|remark| !remark.detail.is_empty())),
        Err(Error::Invalid(problems)) => {
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].detail.split(' ').count() > 4, "{problems:?}");
        }
        Err(error) => panic!("a file is no failure of ours: {error:?}"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(listen_to_panics);
    OURS.set(false);
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| read(bytes)))
        && OURS.get()
    {
        resume_unwind(panic);
    }
});
