//! Pages that are laid out → the bytes of a PDF: PDF/A-2b (ISO 19005-2), with its text to be searched
//! and copied, and the same bytes for the same pages: no clock, nothing of the machine.

use krilla::color::luma;
use krilla::configure::{Archival, ConfigurationBuilder};
use krilla::error::KrillaError;
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::metadata::{DateTime, Metadata};
use krilla::page::PageSettings;
use krilla::paint::{Fill, Stroke};
use krilla::surface::Surface;
use krilla::{Document, SerializeSettings};

use super::fonts::Face;
use super::page::{Area, Page};
use crate::definitions::PageSetup;
use crate::error::{Error, Result};

/// The width of a rule, in points.
const RULE: f32 = 0.4;
/// How light rules and shaded cells are; 255 is white.
const GREY: u8 = 110;
const SHADE: u8 = 238;

/// What is told of a document besides its pages.
pub(super) struct About<'a> {
    pub(super) title: &'a str,
    /// Tells it from other documents.
    pub(super) id: &'a str,
    /// Year, month and day on which it was made. PDF/A has to have one, and ours may not be today's.
    pub(super) day: Option<(i32, u32, u32)>,
}

/// Where nobody says when it was made: the first day of the calendar that archives have.
const SOME_DAY: (i32, u32, u32) = (1980, 1, 1);

/// Writes a PDF.
///
/// # Errors
/// What keeps it from being PDF/A, in words, for the document's author; [`Error::Internal`].
pub(super) fn write(
    pages: &[Page],
    setup: &PageSetup,
    about: &About<'_>,
) -> Result<Result<Vec<u8>, String>> {
    let archival = ConfigurationBuilder::new().with_archival_validator(Archival::A2_B).finish();
    let configuration =
        archival.map_err(|source| Error::internal("beginning a PDF", format!("{source:?}")))?;
    let settings = SerializeSettings {
        compress_content_streams: true,
        xmp_metadata: true,
        enable_tagging: false,
        configuration,
        ..SerializeSettings::default()
    };
    let mut document = Document::new_with(settings);
    let metadata = Metadata::new()
        .title(about.title.to_owned())
        .language("ko".into())
        .creator("Tallyroll".into())
        .creation_date(date(about.day.unwrap_or(SOME_DAY)))
        .document_id(about.id.to_owned());
    document.set_metadata(metadata);
    for page in pages {
        let settings = PageSettings::from_wh(setup.width, setup.height);
        let settings = settings.ok_or_else(|| Error::internal("beginning a page", "its size"))?;
        let mut sheet = document.start_page_with(settings);
        let mut surface = sheet.surface();
        draw(page, &mut surface)?;
        surface.finish();
        sheet.finish();
    }
    Ok(document.finish().map_err(|error| match error {
        // Its own words count them only.
        KrillaError::Validation(errors) => {
            let each: Vec<String> = errors.iter().map(|(error, _)| format!("{error:?}")).collect();
            format!("it would not be PDF/A: {}", each.join(", "))
        }
        other => other.to_string(),
    }))
}

/// Its midnight, in UTC; what a PDF cannot say is as near as it can be.
fn date((year, month, day): (i32, u32, u32)) -> DateTime {
    let small = |number: u32| u8::try_from(number).unwrap_or(1);
    let year = u16::try_from(year).unwrap_or(0);
    DateTime::new(year)
        .month(small(month))
        .day(small(day))
        .hour(0)
        .minute(0)
        .second(0)
        .utc_offset_hour(0)
}

fn draw(page: &Page, surface: &mut Surface<'_>) -> Result<()> {
    surface.set_stroke(None);
    surface.set_fill(Some(Fill { paint: luma::Color::new(SHADE).into(), ..Fill::default() }));
    let mut fills = PathBuilder::new();
    for Area { x, y, width, height } in &page.fills {
        if let Some(area) = Rect::from_xywh(*x, *y, *width, *height) {
            fills.push_rect(area);
        }
    }
    if let Some(path) = fills.finish() {
        surface.draw_path(&path);
    }
    surface.set_fill(None);
    let paint = luma::Color::new(GREY).into();
    surface.set_stroke(Some(Stroke { paint, width: RULE, ..Stroke::default() }));
    let mut rules = PathBuilder::new();
    for rule in &page.rules {
        rules.move_to(rule.from[0], rule.from[1]);
        rules.line_to(rule.to[0], rule.to[1]);
    }
    if let Some(path) = rules.finish() {
        surface.draw_path(&path);
    }
    surface.set_stroke(None);
    surface.set_fill(Some(Fill::default()));
    for text in page.texts.iter().filter(|text| !text.line.glyphs.is_empty()) {
        let font = Face::of(text.weight)?.font();
        let (place, line) = (Point::from_xy(text.x, text.y), &text.line);
        surface.draw_glyphs(place, &line.glyphs, font, &line.text, text.size, false);
    }
    for (picture, area) in &page.pictures {
        if let Some(size) = Size::from_wh(area.width, area.height) {
            surface.push_transform(&Transform::from_translate(area.x, area.y));
            surface.draw_image(picture.image.clone(), size);
            surface.pop();
        }
    }
    Ok(())
}
