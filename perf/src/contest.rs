//! Several ways to the same end, each taken once a round, in turn, so that whatever else the machine does
//! falls on all of them.

use std::time::{Duration, Instant};

use crate::checks::Checks;
use crate::error::Result;
use crate::program::{Poured, Printed};
use crate::sample::Sample;
use crate::stats::{Series, mebibytes, megabytes};

/// Rounds before the measured ones, and measured ones, where none were asked for and a round is short.
const WARM: usize = 5;
const ROUNDS: usize = 10;
/// Measured rounds where one takes long, after one that warms up.
const LONG_ROUNDS: usize = 5;
/// What is long.
const LONG: Duration = Duration::from_secs(5);

/// What one turn took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn {
    /// From its beginning to its end.
    pub(crate) whole: Duration,
    /// What came of it, in bytes.
    pub(crate) bytes: u64,
    /// To the first of them.
    pub(crate) first_byte: Option<Duration>,
    /// CPU seconds of whoever did it.
    pub(crate) cpu: Option<f64>,
    /// The most memory that he had beyond what he has at rest, in bytes.
    pub(crate) above_idle: Option<u64>,
}

impl From<Sample> for Turn {
    fn from(sample: Sample) -> Self {
        Self {
            whole: sample.drained.whole,
            bytes: sample.drained.bytes,
            first_byte: Some(sample.drained.first_byte),
            cpu: Some(sample.cpu),
            above_idle: Some(sample.above_idle),
        }
    }
}

impl From<Poured> for Turn {
    fn from(poured: Poured) -> Self {
        Self { whole: poured.whole, bytes: poured.bytes, ..Self::default() }
    }
}

/// Somebody who takes his turn every round.
pub(crate) struct Entrant<'e> {
    name: String,
    turn: Box<dyn FnMut() -> Result<Turn> + 'e>,
}

/// Who takes part, and who cannot.
#[derive(Default)]
pub(crate) struct Contest<'e> {
    entrants: Vec<Entrant<'e>>,
    left_out: Vec<(String, String)>,
}

/// What everybody took, the first being the one that the others are set beside.
#[derive(Debug)]
pub(crate) struct Standing {
    turns: Vec<(String, Vec<Turn>)>,
    left_out: Vec<(String, String)>,
}

/// Runs a program that takes part.
///
/// # Errors
/// A program that fails or is gone.
pub(crate) fn poured(name: &str, printed: Result<Printed<Poured>>) -> Result<Turn> {
    match printed? {
        Printed::Done(poured) => Ok(poured.into()),
        Printed::Missing => Err(crate::error::Error::new(format!("{name} is gone"))),
    }
}

impl<'e> Contest<'e> {
    /// Lets somebody take part.
    pub(crate) fn enter(&mut self, name: &str, turn: impl FnMut() -> Result<Turn> + 'e) {
        self.entrants.push(Entrant { name: name.into(), turn: Box::new(turn) });
    }

    /// Says who cannot take part, and what would change that.
    pub(crate) fn leave_out(&mut self, name: &str, remedy: &str) {
        println!("{name} is left out: {remedy}");
        self.left_out.push((name.into(), remedy.into()));
    }

    /// Has everybody take his turns: so many rounds, or as many as their length allows.
    ///
    /// # Errors
    /// The first of anybody.
    pub(crate) fn hold(mut self, rounds: Option<usize>) -> Result<Standing> {
        let begun = Instant::now();
        self.round(0)?;
        let long = begun.elapsed() > LONG;
        let (warm, measured) = match rounds {
            Some(rounds) => (0, rounds),
            None if long => (0, LONG_ROUNDS),
            None => (WARM - 1, ROUNDS),
        };
        for round in 0..warm {
            self.round(round + 1)?;
        }
        let mut turns: Vec<(String, Vec<Turn>)> =
            self.entrants.iter().map(|entrant| (entrant.name.clone(), Vec::new())).collect();
        for round in 1..=measured {
            println!("round {round} of {measured}");
            for ((_, turns), turn) in turns.iter_mut().zip(self.round(round)?) {
                turns.push(turn);
            }
        }
        Ok(Standing { turns, left_out: self.left_out })
    }

    /// One turn of everybody; who begins changes from round to round.
    fn round(&mut self, number: usize) -> Result<Vec<Turn>> {
        let count = self.entrants.len().max(1);
        let mut turns = vec![Turn::default(); self.entrants.len()];
        for place in 0..self.entrants.len() {
            let place = (place + number) % count;
            turns[place] = (self.entrants[place].turn)()?;
        }
        Ok(turns)
    }
}

impl Standing {
    fn of(&self, name: &str) -> Option<&[Turn]> {
        self.turns.iter().find(|(known, _)| known == name).map(|(_, turns)| &**turns)
    }

    fn first(&self) -> &[Turn] {
        self.turns.first().map_or(&[], |(_, turns)| turns)
    }

    /// How long somebody took by how long the first took, round by round; nothing where he was left out.
    pub(crate) fn ratio(&self, name: &str) -> Option<Series> {
        Some(seconds(self.of(name)?).by(&seconds(self.first())))
    }

    /// How many bytes the first made by how many somebody made.
    pub(crate) fn size(&self, name: &str) -> Option<f64> {
        let bytes = |turns: &[Turn]| turns.first().map(|turn| crate::stats::number(turn.bytes));
        Some(bytes(self.first())? / bytes(self.of(name)?)?)
    }

    /// CPU seconds of the first.
    pub(crate) fn cpu(&self) -> Series {
        self.first().iter().filter_map(|turn| turn.cpu).collect()
    }

    /// The most memory of the first, beyond what he has at rest, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.first().iter().filter_map(|turn| turn.above_idle).max().unwrap_or(0)
    }

    /// Checks that the first is so many times as fast as somebody.
    pub(crate) fn faster(&self, name: &str, least: f64, checks: &mut Checks) {
        match self.ratio(name) {
            Some(ratio) => checks.check(
                ratio.median() >= least,
                &format!("{ratio} × as fast as {name}, at least {least} wanted"),
            ),
            None => checks.left_out(&format!("{least} × as fast as {name}"), "it is not here"),
        }
    }

    /// Checks that the first takes at most so many times as long as somebody.
    pub(crate) fn within(&self, name: &str, most: f64, checks: &mut Checks) {
        let Some(ratio) = self.ratio(name) else {
            checks.left_out(&format!("at most {most} × the time of {name}"), "it is not here");
            return;
        };
        let times = ratio.inverse();
        let what = format!("{times} × the time of {name}, at most {most} wanted");
        checks.check(times.median() <= most, &what);
    }

    /// A table of it, in Markdown.
    pub(crate) fn table(&self) -> String {
        let mut text = String::from(
            "| | rounds | MB | s | MB/s | first byte, ms | CPU, s | MiB above idle | its time by the first's |\n\
             |---|---|---|---|---|---|---|---|---|\n",
        );
        text.extend(self.turns.iter().map(|(name, turns)| self.line(name, turns)));
        let left_out = self.left_out.iter();
        text.extend(left_out.map(|(name, remedy)| format!("\n{name} is left out: {remedy}.\n")));
        text
    }

    fn line(&self, name: &str, turns: &[Turn]) -> String {
        let time = seconds(turns);
        let bytes = turns.first().map_or(0, |turn| turn.bytes);
        let first: Series = turns
            .iter()
            .filter_map(|turn| Some(turn.first_byte?.as_secs_f64() * 1_000.0))
            .collect();
        let cpu: Series = turns.iter().filter_map(|turn| turn.cpu).collect();
        let memory = turns.iter().filter_map(|turn| turn.above_idle).max();
        let or_none = |series: &Series, digits: usize| match series.len() {
            0 => String::new(),
            _ => format!("{series:.digits$}"),
        };
        format!(
            "| {name} | {} | {:.1} | {time} | {:.0} | {} | {} | {} | {} |\n",
            turns.len(),
            megabytes(bytes),
            megabytes(bytes) / time.median(),
            or_none(&first, 1),
            or_none(&cpu, 2),
            memory.map_or(String::new(), mebibytes),
            self.ratio(name).unwrap_or_default(),
        )
    }
}

fn seconds(turns: &[Turn]) -> Series {
    turns.iter().map(|turn| turn.whole.as_secs_f64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(millis: u64) -> Turn {
        Turn { whole: Duration::from_millis(millis), bytes: millis, ..Turn::default() }
    }

    #[test]
    fn everybody_takes_a_turn_each_round_and_the_first_is_the_measure() {
        let mut seen = Vec::new();
        let seen = std::cell::RefCell::new(&mut seen);
        let mut contest = Contest::default();
        contest.enter("ours", || {
            seen.borrow_mut().push("ours");
            Ok(turn(100))
        });
        contest.enter("theirs", || {
            seen.borrow_mut().push("theirs");
            Ok(turn(300))
        });
        contest.leave_out("nobody", "install it");
        let standing = contest.hold(Some(2)).unwrap();
        assert_eq!(**seen.borrow(), ["ours", "theirs", "theirs", "ours", "ours", "theirs"]);
        assert!((standing.ratio("theirs").unwrap().median() - 3.0).abs() < 1e-9);
        let mut checks = Checks::default();
        standing.faster("theirs", 2.9, &mut checks);
        standing.within("theirs", 0.4, &mut checks);
        standing.faster("nobody", 2.0, &mut checks);
        assert_eq!(checks.verdict(), "2 checks, 0 failed, 1 left out");
        standing.faster("theirs", 3.1, &mut checks);
        assert!(!checks.all_held());
        assert!(standing.table().contains("nobody is left out: install it."));
    }
}
