//! `PDFBox` in a Java program that stays: told to write the bundle, it says how long it took.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::bench::Bench;
use crate::client::Pace;
use crate::contest::Turn;
use crate::error::{Doing, Error, Result};
use crate::peers::{Found, JAVA, source};
use crate::program::{self, Printed};
use crate::server::Server;

const JARS: [&str; 6] = [
    "pdfbox2",
    "fontbox2",
    "commons-logging",
    "jackson-core",
    "jackson-databind",
    "jackson-annotations",
];

/// A Java program at work. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct PdfBox {
    child: Child,
    told: ChildStdin,
    says: BufReader<ChildStdout>,
    file: PathBuf,
}

impl PdfBox {
    /// Compiles and starts it on the rows of 200 ledgers, on the first core alone where that is asked for.
    ///
    /// # Errors
    /// A program that is there and does not say that it is ready.
    pub(super) fn start(bench: &Bench, server: &Server, one_core: bool) -> Result<Found<Self>> {
        let place = bench.workplace.path();
        let classes = place.join("bundle-classes");
        let jars = JARS.iter().map(|jar| format!(":{JAVA}/{jar}.jar"));
        let path = format!("{}{}", classes.display(), jars.collect::<String>());
        let mut compiler = Command::new("javac");
        compiler.args(["-encoding", "UTF-8", "-cp", &path, "-d"]).arg(&classes);
        let compiled = program::text(compiler.arg(source("Bundle.java")));
        let missing =
            "`apt-get install default-jdk-headless libpdfbox2-java libjackson2-databind-java`";
        let Ok(Printed::Done(_)) = compiled else { return Ok(Err(missing.into())) };
        let rows = place.join("ledgers.ndjson");
        let mut text = Vec::new();
        let answer = server.get("/documents/ledgers-200/items?format=ndjson")?;
        answer.drain(Pace::Fast, &mut |bytes| text.extend_from_slice(bytes))?;
        std::fs::write(&rows, text).doing("writing the ledgers' rows")?;
        let fonts = source("../../assets/fonts");
        let mut command = Command::new("taskset");
        command.args(["-c", if one_core { "0" } else { "0-1023" }, "java", "-Xmx1g", "-cp", &path]);
        command.args(["Bundle"]);
        command.arg(fonts.join("NanumGothic-Regular.ttf")).arg(fonts.join("NanumGothic-Bold.ttf"));
        command.arg(rows).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().doing("starting PDFBox")?;
        let (told, says) = (child.stdin.take(), child.stdout.take());
        let (told, says) = told.zip(says).ok_or_else(|| Error::new("PDFBox has no pipes"))?;
        let file = place.join(if one_core { "pdfbox-one.zip" } else { "pdfbox.zip" });
        let mut pdfbox = Self { child, told, says: BufReader::new(says), file };
        match pdfbox.line()?.as_str() {
            "ready" => Ok(Ok(pdfbox)),
            other => Err(Error::new(format!("PDFBox says \"{other}\" where it should be ready"))),
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.says.read_line(&mut line).doing("listening to PDFBox")?;
        Ok(line.trim().to_owned())
    }

    /// Has it write the bundle once.
    ///
    /// # Errors
    /// A program that fails.
    pub(super) fn turn(&mut self) -> Result<Turn> {
        writeln!(self.told, "{}", self.file.display()).doing("telling PDFBox")?;
        let line = self.line()?;
        let micros = line.parse().doing("reading PDFBox's time")?;
        let bytes = std::fs::metadata(&self.file).doing("looking at PDFBox's file")?.len();
        Ok(Turn { whole: Duration::from_micros(micros), bytes, ..Turn::default() })
    }
}

impl Drop for PdfBox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
