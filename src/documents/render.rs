//! Documents rendered by several threads and handed on in order.
//!
//! Each thread takes the next number, renders that document, and lays it down; whoever writes takes
//! them up by number. Nobody is more than a few documents ahead of the writer, so that a slow reader
//! holds up the rendering and not the memory; and whoever renders looks before each document whether
//! anybody still wants it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::bundle::{Rendered, Slot};
use super::gather::{Gathered, Item};
use super::held::object;
use super::layout::{self, Failure};
use super::pdf::{self, About};
use super::text::{Lacking, substitute};
use crate::archive::Whole;
use crate::definitions::Document;
use crate::delivery::{RowSource, panicked};
use crate::error::{Error, Result};
use crate::json::Node;
use crate::rows::{Date, RowSink, Warning, hex, parse_date};
use crate::runs::Stop;
use crate::turns::Turn;

/// Documents that each thread may be ahead of the writer.
const AHEAD: usize = 2;
/// How often whoever waits looks whether the run was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// The pages of one document, as PDF; `bytes` are those of [`Item::bytes`].
///
/// # Errors
/// [`Error::Unrenderable`] for a row that has not what the template needs; [`Error::Internal`].
pub(super) fn render(
    document: &Document,
    item: &Item,
    bytes: &[u8],
    lacking: &mut Lacking,
) -> Result<Vec<u8>> {
    let unfit = |detail: String| Error::Unrenderable { document: item.words(), detail };
    let mut rest = bytes;
    let mut row = object(&mut rest, &document.report)?.map_err(|why| unfit(why.0))?;
    if let (Some(details), Node::Object(pairs)) = (&document.details, &mut row) {
        let mut lines = Vec::new();
        while !rest.is_empty() {
            lines.push(object(&mut rest, &details.report)?.map_err(|why| unfit(why.0))?);
        }
        pairs.push((details.name.as_str().into(), Node::List(lines)));
    }
    let pages = layout::lay_out(&document.template, &row, lacking);
    let pages = pages.map_err(|failure| match failure {
        Failure::Unfit(why) => unfit(why.0),
        Failure::Ours(error) => error,
    })?;
    let title = if item.title.is_empty() {
        item.name.strip_suffix(".pdf").unwrap_or(&item.name)
    } else {
        &item.title
    };
    let id = format!("{}/{}/{}", document.report.name, item.key, document.fingerprint);
    let about = About { title, id: &id, day: day(document, &row) };
    pdf::write(&pages, &document.template.page, &about)?.map_err(unfit)
}

/// The day on which a document was made, where its row says so.
fn day(document: &Document, row: &Node<'_>) -> Option<(i32, u32, u32)> {
    let key = &document.report.columns.get(document.date?)?.column.key;
    match row.find(std::slice::from_ref(key))? {
        Node::Text(text) => parse_date(text.get(..10)?).ok().map(Date::ymd),
        _ => None,
    }
}

/// A source whose rows are rendered documents, each laid into the slot before its row is given.
pub(super) struct Rendering {
    pub(super) document: Arc<Document>,
    pub(super) gathered: Gathered,
    pub(super) slot: Slot,
    /// Threads that render.
    pub(super) threads: usize,
}

impl RowSource for Rendering {
    fn drive(
        self: Box<Self>,
        sink: &mut (dyn RowSink + Send),
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let Self { document, mut gathered, slot, threads } = *self;
        warnings.append(&mut gathered.warnings);
        let threads = threads.min(gathered.items.len());
        let desk = Desk {
            document: &document,
            gathered: &gathered,
            ahead: AHEAD * threads,
            state: Mutex::default(),
            moved: Condvar::new(),
        };
        let outcome = std::thread::scope(|scope| {
            let begun = (0..threads).map(|_| desk.begin(scope, stop)).collect::<Result<Vec<_>>>();
            let written = begun.and_then(|_| desk.write(sink, stop, &slot));
            desk.close();
            written
        });
        warnings.extend(lacking(&desk.lock().lacking));
        outcome
    }
}

/// Where rendered documents are laid down and taken up.
struct Desk<'d> {
    document: &'d Document,
    gathered: &'d Gathered,
    ahead: usize,
    state: Mutex<State>,
    /// Something was laid down or taken up.
    moved: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The next document to be rendered.
    next: usize,
    /// How many were taken up.
    written: usize,
    laid: BTreeMap<usize, Result<Rendered>>,
    /// Nothing more is wanted.
    over: bool,
    lacking: Lacking,
}

impl Desk<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.moved.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
    }

    fn begin<'s>(&'s self, scope: &'s std::thread::Scope<'s, '_>, stop: &'s Stop) -> Result<()> {
        let thread = std::thread::Builder::new().name("render".into());
        let spawned = thread.spawn_scoped(scope, move || self.work(stop));
        spawned.map(drop).map_err(|source| Error::internal("starting a renderer's thread", source))
    }

    /// Renders one document after the other.
    fn work(&self, stop: &Stop) {
        let mut turn = Turn::of_this_thread();
        while let Some(number) = self.take(&mut turn, stop) {
            turn.row();
            let mut lacking = Lacking::new();
            let item = &self.gathered.items[number];
            let rendered = catch_unwind(AssertUnwindSafe(|| self.render(item, &mut lacking)))
                .unwrap_or_else(|panic| Err(panicked(&*panic)));
            let mut state = self.lock();
            state.laid.insert(number, rendered);
            for (letter, times) in lacking {
                *state.lacking.entry(letter).or_default() += times;
            }
            drop(state);
            self.moved.notify_all();
            // A further one may wait for long.
            turn.give_up();
        }
    }

    /// The number of the document to be rendered next, once it may be; nothing when there is none.
    fn take(&self, turn: &mut Turn, stop: &Stop) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.over || stop.is_fired() || state.next >= self.gathered.items.len() {
                return None;
            }
            if state.next < state.written + self.ahead {
                state.next += 1;
                return Some(state.next - 1);
            }
            turn.give_up();
            state = self.wait(state);
        }
    }

    fn render(&self, item: &Item, lacking: &mut Lacking) -> Result<Rendered> {
        let bytes = item.bytes(&self.gathered.held)?;
        let pdf = render(self.document, item, &bytes, lacking)?;
        let sha256 = hex(&Sha256::digest(&pdf));
        let entry = Whole::new(item.name.clone(), pdf)?;
        Ok(Rendered { entry, key: item.key.clone(), sha256 })
    }

    /// Hands the documents on in order.
    fn write(&self, sink: &mut (dyn RowSink + Send), stop: &Stop, slot: &Slot) -> Result<()> {
        for number in 0..self.gathered.items.len() {
            let rendered = self.taken_up(number, sink, stop)??;
            slot.put(rendered);
            sink.row(&[])?;
        }
        Ok(())
    }

    fn taken_up(
        &self,
        number: usize,
        sink: &mut (dyn RowSink + Send),
        stop: &Stop,
    ) -> Result<Result<Rendered>> {
        let mut state = self.lock();
        let mut idle = false;
        loop {
            stop.check()?;
            if let Some(rendered) = state.laid.remove(&number) {
                state.written = number + 1;
                drop(state);
                self.moved.notify_all();
                return Ok(rendered);
            }
            if !idle {
                idle = true;
                // The renderers have more to do.
                sink.idle();
            }
            state = self.wait(state);
        }
    }

    fn close(&self) {
        self.lock().over = true;
        self.moved.notify_all();
    }
}

/// What a person should know about letters that the fonts have not.
pub(super) fn lacking(lacking: &Lacking) -> Option<Warning> {
    const SHOWN: usize = 10;
    if lacking.is_empty() {
        return None;
    }
    let times: u64 = lacking.values().sum();
    let shown: Vec<String> = lacking
        .keys()
        .take(SHOWN)
        .map(|letter| {
            format!("{letter} (U+{:04X}, shown as {})", u32::from(*letter), substitute(*letter))
        })
        .collect();
    let more = if lacking.len() > SHOWN { " and others" } else { "" };
    let detail =
        format!("the font has no glyph for {}{more}, which came {times} times", shown.join(", "));
    tracing::warn!(%detail, "letters are lacking");
    Some(Warning { code: "missing_glyphs".into(), detail })
}
