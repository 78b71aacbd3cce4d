//! Fields of a form: by which a browser helps to type a value of some kind, with their hints and what
//! is wrong, each found by whoever does not see it.

use maud::{Markup, html};

use crate::definitions::{Filter, Op};
use crate::rows::Kind;

/// An input and what belongs to it.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    /// Its id, from which those of its hint and its faults are made.
    pub(super) id: &'a str,
    /// The parameter.
    pub(super) name: &'a str,
    /// Whether something is wrong with what was sent.
    pub(super) faulty: bool,
}

impl Field<'_> {
    /// The id of what is said of it in any case.
    pub(super) fn hint(&self) -> String {
        format!("{}.hint", self.id)
    }

    /// The id of what is wrong with it, in words.
    pub(super) fn words(&self) -> String {
        format!("{}.faults", self.id)
    }

    /// The ids of all that is said of it.
    pub(super) fn described_by(&self) -> String {
        if self.faulty { format!("{} {}", self.hint(), self.words()) } else { self.hint() }
    }

    fn invalid(&self) -> Option<&'static str> {
        self.faulty.then_some("true")
    }

    fn typing(&self, kind: Kind) -> Typing {
        // A browser shows nothing where a value is not of the field's type.
        typing(if self.faulty { Kind::Text } else { kind })
    }

    /// A field for one value.
    pub(super) fn single(&self, kind: Kind, required: bool, value: &str) -> Markup {
        let Typing { kind, step, mode } = self.typing(kind);
        html! {
            input id=(self.id) name=(self.name) type=(kind) step=[step] inputmode=[mode] value=(value)
                required[required] aria-invalid=[self.invalid()] aria-describedby=(self.described_by());
        }
    }

    /// One of the fields of a filter that takes several values.
    pub(super) fn several(&self, filter: &Filter, place: usize, value: &str) -> Markup {
        let Typing { kind, step, mode } = self.typing(filter.takes());
        let label = format!("{}, value {}", filter.title, place + 1);
        html! {
            input id=[(place == 0).then_some(self.id)] name=(self.name) type=(kind) step=[step] inputmode=[mode]
                value=(value) required[filter.required && place == 0] aria-label=(label) aria-invalid=[self.invalid()];
        }
    }

    /// A field for one of a few words, or none.
    pub(super) fn choice(&self, required: bool, words: &[&str], value: &str) -> Markup {
        html! {
            select id=(self.id) name=(self.name) required[required] aria-invalid=[self.invalid()]
                aria-describedby=(self.described_by()) {
                option value="" { "–" }
                @for word in words { option value=(word) selected[*word == value] { (word) } }
            }
        }
    }
}

/// How a browser helps to type a value.
struct Typing {
    kind: &'static str,
    step: Option<&'static str>,
    mode: Option<&'static str>,
}

fn typing(kind: Kind) -> Typing {
    let (kind, step, mode) = match kind {
        Kind::Int => ("number", Some("1"), Some("numeric")),
        Kind::Decimal | Kind::Float => ("number", Some("any"), Some("decimal")),
        Kind::Date => ("date", None, None),
        // A date alone may be given, and an instant needs its offset: no input of a browser has both.
        Kind::Time | Kind::Text | Kind::Json | Kind::Bool => ("text", None, None),
    };
    Typing { kind, step, mode }
}

/// What a filter asks of its column, in words.
pub(super) fn asks(op: Op, kind: Kind) -> &'static str {
    let of_time = matches!(kind, Kind::Date | Kind::Time);
    match op {
        Op::Eq => "equals",
        Op::Ne => "differs from",
        Op::Lt if of_time => "before",
        Op::Lt => "less than",
        Op::Le if of_time => "up to and including",
        Op::Le => "at most",
        Op::Gt if of_time => "after",
        Op::Gt => "more than",
        Op::Ge if of_time => "from",
        Op::Ge => "at least",
        Op::In => "any of these",
        Op::Contains => "contains, letter case minded",
        Op::Prefix => "begins with, letter case minded",
        Op::IsNull => "true: without a value; false: with one",
    }
}

/// What a field takes, where a browser does not say it by itself.
pub(super) fn takes(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Int => Some("a whole number"),
        Kind::Decimal | Kind::Float => Some("a number"),
        Kind::Time => Some("2026-01-31 or 2026-01-31T09:00:00+09:00"),
        Kind::Text | Kind::Bool | Kind::Date | Kind::Json => None,
    }
}
