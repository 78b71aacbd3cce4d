//! A report on the page: what it is, and a form that asks for its rows, blank or as it was sent, with
//! what is wrong with it.

use maud::{Markup, html};

use super::field::{Field, asks, takes};
use crate::definitions::{Filter, Op, ROWS_PARAMETERS, Report};
use crate::error::Problem;
use crate::formats::Format;
use crate::rows::Kind;

/// Fields for the values of a filter that takes several.
const SEVERAL: usize = 3;

/// The parameter that has a box for each column.
const COLUMNS: &str = "columns";
/// The parameters of the rows that people are asked for, with what they are called here.
const OPTIONS: [(&str, &str); 6] = [
    (COLUMNS, "Columns"),
    ("limit", "Rows at most"),
    ("tz", "Time zone"),
    ("delivery", "Delivery"),
    ("header", "Header"),
    ("bom", "Byte order mark in CSV"),
];
const TRUTHS: [&str; 2] = ["true", "false"];

/// A report with what was sent and what is wrong with it.
pub(super) struct Form<'a> {
    /// The report.
    pub(super) report: &'a Report,
    /// The zone where none is asked for.
    pub(super) zone: &'a str,
    /// The parameters that were sent.
    pub(super) sent: &'a [(String, String)],
    /// What is wrong with them.
    pub(super) problems: &'a [Problem],
    /// Whether the filters are in sight.
    pub(super) open: bool,
}

impl Form<'_> {
    /// What is wrong, each leading to its field, where there is one.
    pub(super) fn faults(&self) -> Markup {
        html! {
            div.faults role="alert" {
                p { "This must be put right first:" }
                ul {
                    @for problem in self.problems {
                        li {
                            @if let Some((id, title)) = self.field_of(problem) {
                                a href=(format!("#{id}")) { (title) } ": "
                            }
                            (problem.detail)
                        }
                    }
                }
            }
        }
    }

    /// The id and the title of the field that a problem is about.
    fn field_of(&self, problem: &Problem) -> Option<(String, &str)> {
        let name = problem.parameter.as_deref()?;
        let filters = &self.report.filters;
        if let Some(index) = filters.iter().position(|filter| filter.name == name) {
            return Some((self.filter_id(index), &filters[index].title));
        }
        let (_, title) = OPTIONS.into_iter().find(|option| option.0 == name)?;
        Some((self.option_id(name), title))
    }

    fn filter_id(&self, index: usize) -> String {
        format!("filter.{}.{index}", self.report.name)
    }

    fn option_id(&self, name: &str) -> String {
        format!("option.{}.{name}", self.report.name)
    }

    /// The report as an article.
    pub(super) fn article(&self) -> Markup {
        let Report { name, title, description, .. } = self.report;
        let heading = format!("report.{name}");
        html! {
            article aria-labelledby=(heading) {
                h2 id=(heading) { (title) }
                @if let Some(description) = description { p { (description) } }
                p.quiet { a href=(format!("/api/v1/reports/{name}")) { code { (name) } } }
                form action=(format!("/reports/{name}/download")) method="get" autocomplete="off" {
                    (self.narrowing())
                    (self.shaping())
                    @for (name, value) in self.carried() {
                        input type="hidden" name=(name) value=(value);
                    }
                    (self.downloads())
                }
            }
        }
    }

    fn narrowing(&self) -> Markup {
        let filters = &self.report.filters;
        // What must be filled in must be in sight, or a browser refuses without a word.
        let open = self.open || filters.iter().any(|filter| filter.required);
        html! {
            @if !filters.is_empty() {
                details open[open] {
                    summary { "Filters" }
                    div.fields {
                        @for (index, filter) in filters.iter().enumerate() { (self.filter(index, filter)) }
                    }
                }
            }
        }
    }

    fn filter(&self, index: usize, filter: &Filter) -> Markup {
        let id = self.filter_id(index);
        let field = Field { id: &id, name: &filter.name, faulty: self.is_faulty(&filter.name) };
        let values = self.values(&filter.name);
        let first = values.first().copied().unwrap_or_default();
        html! {
            @if filter.op == Op::In {
                fieldset.field aria-describedby=(field.described_by()) {
                    legend { (filter.title) }
                    div.several {
                        @for place in 0..SEVERAL.max(values.len() + 1) {
                            @let value = values.get(place).copied().unwrap_or_default();
                            (Field { faulty: self.is_wrong(&filter.name, value), ..field }.several(filter, place, value))
                        }
                    }
                    (self.notes(&field, filter))
                }
            } @else {
                div.field {
                    label for=(id) { (filter.title) }
                    @match filter.takes() {
                        Kind::Bool => (field.choice(filter.required, &TRUTHS, first)),
                        kind @ (Kind::Text | Kind::Int | Kind::Decimal | Kind::Float | Kind::Date
                            | Kind::Time | Kind::Json) => (field.single(kind, filter.required, first)),
                    }
                    (self.notes(&field, filter))
                }
            }
        }
    }

    /// What a filter asks and takes, and what is wrong with what was given.
    fn notes(&self, field: &Field<'_>, filter: &Filter) -> Markup {
        html! {
            span.hint id=(field.hint()) {
                (asks(filter.op, filter.takes())) @if let Some(takes) = takes(filter.takes()) { "; " (takes) }
                @if filter.required { "; required" }
            }
            (self.words(field))
        }
    }

    /// Which columns, how many rows, and how they are written.
    fn shaping(&self) -> Markup {
        let asked = |name| self.is_faulty(name) || !self.values(name).is_empty();
        let open = OPTIONS.iter().any(|option| asked(option.0));
        html! {
            details open[open] {
                summary { "Columns and options" }
                (self.columns())
                div.fields {
                    @for (name, title) in OPTIONS { (self.option(name, title)) }
                }
            }
        }
    }

    fn option(&self, name: &str, title: &str) -> Markup {
        let id = self.option_id(name);
        let field = Field { id: &id, name, faulty: self.is_faulty(name) };
        let values = self.values(name);
        let value = values.first().copied().unwrap_or_default();
        let without = format!("an IANA name such as UTC; without: {}", self.zone);
        let (input, hint) = match name {
            // Without an order there are no pages.
            "limit" if !self.report.order.is_empty() => {
                (field.single(Kind::Int, false, value), "without: all")
            }
            "tz" => (field.single(Kind::Text, false, value), &*without),
            "delivery" => (
                field.choice(false, &["direct", "prepared"], value),
                "prepared: the whole file is built first, and can be resumed",
            ),
            "header" => (
                field.choice(false, &["title", "key"], value),
                "of CSV and xlsx: the columns' titles, or their keys",
            ),
            "bom" => (field.choice(false, &TRUTHS, value), "by which Excel knows that it is UTF-8"),
            _ => return Markup::default(),
        };
        html! {
            div.field {
                label for=(id) { (title) }
                (input)
                span.hint id=(field.hint()) { (hint) }
                (self.words(&field))
            }
        }
    }

    fn columns(&self) -> Markup {
        let id = self.option_id(COLUMNS);
        let field = Field { id: &id, name: COLUMNS, faulty: self.is_faulty(COLUMNS) };
        let values = self.values(COLUMNS);
        let chosen: Vec<_> = values.iter().flat_map(|list| list.split(',')).collect();
        html! {
            fieldset.columns id=(id) aria-describedby=(field.described_by()) {
                legend { "Columns" }
                span.hint id=(field.hint()) { "none chosen: all" }
                ul {
                    @for declared in &self.report.columns {
                        @let column = &declared.column;
                        li {
                            label.check {
                                input type="checkbox" name=(COLUMNS) value=(column.key)
                                    checked[chosen.contains(&column.key.as_str())];
                                span { (column.title) " " span.hint { code { (column.key) } " " (column.kind.word()) } }
                            }
                        }
                    }
                }
                (self.words(&field))
            }
        }
    }

    /// A button for each format; Return in a field takes the first.
    fn downloads(&self) -> Markup {
        html! {
            div.downloads role="group" aria-label=(format!("Download {}", self.report.title)) {
                span { "Download as" }
                @for (place, format) in Format::ALL.into_iter().rev().enumerate() {
                    button.first[place == 0] name="format" value=(format.name()) { (called(format)) }
                }
            }
        }
    }

    /// Parameters of the rows that were sent and have no field here.
    fn carried(&self) -> impl Iterator<Item = &(String, String)> {
        let has_field =
            |name: &str| name == "format" || OPTIONS.iter().any(|option| option.0 == name);
        self.sent.iter().filter(move |(name, _)| {
            ROWS_PARAMETERS.contains(&name.as_str()) && !has_field(name) && !self.is_faulty(name)
        })
    }

    fn values(&self, name: &str) -> Vec<&str> {
        self.sent.iter().filter(|pair| pair.0 == name).map(|pair| &*pair.1).collect()
    }

    fn problems(&self, name: &str) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(move |problem| problem.parameter.as_deref() == Some(name))
    }

    /// Whether something is wrong with this one of a parameter's values, or with all of them.
    fn is_wrong(&self, name: &str, value: &str) -> bool {
        self.problems(name)
            .any(|problem| problem.value.as_deref().is_none_or(|wrong| wrong == value))
    }

    fn is_faulty(&self, name: &str) -> bool {
        self.problems(name).next().is_some()
    }

    fn words(&self, field: &Field<'_>) -> Markup {
        html! {
            @if field.faulty {
                div id=(field.words()) {
                    @for problem in self.problems(field.name) { p.fault { (problem.detail) } }
                }
            }
        }
    }
}

fn called(format: Format) -> &'static str {
    match format {
        Format::Xlsx => "Excel (xlsx)",
        Format::Csv => "CSV",
        Format::Json => "JSON",
        Format::Ndjson => "NDJSON",
    }
}
