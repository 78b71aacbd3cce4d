//! What was seen of an answer as it streamed by, set beside what the server says of it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::checks::Checks;
use crate::client::Pace;
use crate::error::Result;
use crate::scan::{Counted, Scanner};
use crate::server::Server;

/// A whole answer, of which these figures are all that was kept.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Rows and sum.
    pub(crate) counted: Counted,
    /// Its bytes, without transfer coding.
    pub(crate) bytes: u64,
    /// Their digest in hex.
    pub(crate) sha256: String,
    /// Its length as its head said, where it did.
    pub(crate) length: Option<u64>,
    /// The id of its run.
    pub(crate) run: String,
}

impl Seen {
    /// Asks for a path below `/api/v1` and reads the answer to its end.
    ///
    /// # Errors
    /// An answer that is refused, breaks off, or is not what the scanner reads.
    pub(crate) fn take(server: &Server, path: &str, scanner: &mut dyn Scanner) -> Result<Self> {
        let answer = server.get(path)?;
        let run = answer.header("x-run-id").unwrap_or_default().to_owned();
        let length = answer.header("content-length").and_then(|length| length.parse().ok());
        let mut digest = Sha256::new();
        let drained = answer.drain(Pace::Fast, &mut |data| {
            scanner.feed(data);
            digest.update(data);
        })?;
        let sha256 = hex(&digest.finalize());
        Ok(Self { counted: scanner.finish()?, bytes: drained.bytes, sha256, length, run })
    }

    /// Checks that the server's record of the run says the same.
    ///
    /// # Errors
    /// No record is shown.
    pub(crate) fn against_record(
        &self,
        about: &str,
        server: &Server,
        checks: &mut Checks,
    ) -> Result<()> {
        let run = server.json(&format!("/runs/{}", self.run))?;
        let text = |key: &str| run[key].as_str().unwrap_or("none").to_owned();
        let number = |key: &str| run[key].as_u64().unwrap_or(0);
        checks.same(&format!("{about}: the run's state"), &text("state"), &"complete".to_owned());
        checks.same(&format!("{about}: the run's rows"), &number("rows"), &self.counted.rows);
        checks.same(&format!("{about}: the run's bytes"), &number("bytes"), &self.bytes);
        checks.same(&format!("{about}: the run's sha256"), &text("sha256"), &self.sha256);
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_shown_in_hex() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hex(&Sha256::digest(b"")), empty);
    }
}
