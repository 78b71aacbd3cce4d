//! Tallyroll hands out big tables as spreadsheets and streams, out of the database that is there.
//!
//! A tally roll is the paper strip a till prints: one line at a time, as long as the day needs, and
//! the till never holds more than one line. Rows go through; they do not pile up.
//!
//! # The map
//!
//! | module | what it is for |
//! |---|---|
//! | [`cli`], [`server`] | the two ways in: a command, or HTTP bound, run, stopped |
//! | [`http`] | the route table, extractors, negotiation, problems, the page; the only folder that knows actix |
//! | [`app`] | what every request and command needs |
//! | [`reports`] | the rows of a definition, how many there are, files of them |
//! | [`imports`] | uploaded rows: headings found, cells checked, staged, merged; what is wrong handed back |
//! | [`documents`] | the rows of a definition as PDFs: laid out, rendered by several threads, in one archive |
//! | [`convert`] | a file in another format: columns chosen and renamed, every cell by what it is |
//! | [`delivery`] | the pump: rows → encoder → digest → coding → chunks, with run accounting |
//! | [`spool`] | finished files for a while: built, kept, swept |
//! | [`formats`] | rows to bytes: NDJSON, JSON, CSV, xlsx |
//! | [`archive`], [`names`] | ZIP archives that leave while they are made; names of files and entries |
//! | [`sheets`] | files to rows: xlsx, xlsb, xls, ods in a child process; CSV, NDJSON, JSON arrays |
//! | [`runs`] | what goes on, how far it is, who may stop it; permits; which processes live |
//! | [`definitions`] | TOML → checked definitions; definition, filters and scope → one statement |
//! | [`database`] | connections; a statement's rows out of SQLite, PostgreSQL, MySQL; bulk loading |
//! | `json` | JSON as it is written |
//! | `turns` | whose turn it is to compute: as many pumps at once as there are cores |
//! | [`access`] | who is asking, and what he may see |
//! | [`rows`] | values, kinds, columns, and the two ends that rows pass between |
//! | [`ops`] | what stands around the server, with its settings filled in |
//! | [`demo`] | example data of any size, the same everywhere |
//! | [`error`] | the one error type, cut by what the client can do |
//! | [`config`], [`observe`] | settings, and the only reader of the environment; logs |
//!
//! # The walk of a report
//!
//! caller → definition + typed filters + scope → place in the queue → run begun → permit → statement →
//! first batch, the last moment for a clean status → pump → outlet → run finished → last chunk.
//!
//! Each step may refuse; none is visited twice. Authorise before opening, open before answering.
//!
//! # The walk of an import
//!
//! upload that is whole → what is known of its key → place in the queue → run begun → permit → what the
//! file is → header → every cell checked, every row staged → doubles, references and clashes found by
//! sets → one merge together with the note that it was done → what it came to. Spreadsheets are read in
//! a child process; rejected rows are kept with what is wrong until somebody fetches them.
//!
//! # The walk of a conversion
//!
//! upload that is whole → place in the queue → run begun → permit → what the file is → its columns →
//! pump, whose source is the file → a prepared file. The encoder is made when the columns are known.
//!
//! # The walk of a bundle
//!
//! caller → definition + typed filters + scope → place in the queue → run begun → permit → one transaction
//! that reads: rows that are held, in memory or aside → connection back → each row laid out and rendered,
//! several at once, in order → pump, whose source they are → outlet.
//!
//! # The pump
//!
//! A source is driven on a thread of its own, whatever it is: SQLite steps there, a server's rows are
//! polled there, a file is read there. Encoder and digest run on it too, but that a workbook is compressed
//! on a second thread, and that, while a core is free, what is made of SQLite's rows, or else the digest,
//! is made on one. A value borrows from the driver's buffer and is written straight into the output, which
//! is lent for the call. Chunks leave over a bounded channel; the batch being filled lies where the
//! receiver can send it off when its oldest row has waited 250 ms, even while the source is inside the
//! database. As many pumps compute at once as there are cores, a moment each, and give way to whoever
//! answers short requests.
//!
//! # What must hold
//!
//! `cli | server → http → app → features → {delivery sheets formats runs database definitions access} →
//! rows → error`; features never import each other. actix only in `http` and `server`; sqlx and
//! rusqlite only in `database`; calamine only in `sheets`; the environment only in `config`. A test
//! reads the sources and asserts it.

pub mod access;
pub mod app;
pub mod archive;
pub mod cli;
pub mod config;
pub mod convert;
pub mod database;
pub mod definitions;
pub mod delivery;
pub mod demo;
pub mod documents;
pub mod error;
pub mod formats;
pub mod http;
pub mod imports;
mod json;
pub mod names;
pub mod observe;
pub mod ops;
pub mod reports;
pub mod rows;
pub mod runs;
pub mod server;
pub mod sheets;
pub mod spool;
mod turns;
