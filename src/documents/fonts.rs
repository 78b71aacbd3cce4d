//! The fonts that documents are set in, `NanumGothic` in two weights: read once for the process and
//! shared by all threads.

#[cfg(test)]
mod tests;
mod unhinted;

use std::sync::LazyLock;

use krilla::text::Font;
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};

use self::unhinted::unhinted;
use crate::error::{Error, Result};

/// SIL Open Font License; `assets/fonts/OFL.txt`.
static REGULAR: &[u8] = include_bytes!("../../assets/fonts/NanumGothic-Regular.ttf");
static BOLD: &[u8] = include_bytes!("../../assets/fonts/NanumGothic-Bold.ttf");

static FONTS: LazyLock<Option<[Face; 2]>> =
    LazyLock::new(|| Some([Face::new(REGULAR)?, Face::new(BOLD)?]));

/// How heavy letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// One font, with what measuring it takes: made per text, these tables would cost as much as all else.
pub(super) struct Face {
    font: Font,
    charmap: Charmap<'static>,
    metrics: GlyphMetrics<'static>,
    /// Font units of the size.
    units: f32,
}

impl Face {
    /// The font of this weight.
    ///
    /// # Errors
    /// [`Error::Internal`] where a font of the program cannot be read.
    pub(super) fn of(weight: Weight) -> Result<&'static Self> {
        let fonts = FONTS.as_ref();
        let [regular, bold] =
            fonts.ok_or_else(|| Error::internal("reading a font", "it is broken"))?;
        Ok(match weight {
            Weight::Regular => regular,
            Weight::Bold => bold,
        })
    }

    fn new(bytes: &'static [u8]) -> Option<Self> {
        // For the rest of the process's life, as what it is made of.
        let bytes: &'static [u8] = Box::leak(unhinted(bytes)?.into_boxed_slice());
        let read = FontRef::new(bytes).ok()?;
        let font = Font::new(bytes.into(), 0)?;
        Some(Self {
            units: font.units_per_em(),
            font,
            charmap: read.charmap(),
            metrics: read.glyph_metrics(Size::unscaled(), LocationRef::default()),
        })
    }

    /// As the PDF takes it.
    pub(super) fn font(&self) -> Font {
        self.font.clone()
    }

    /// The glyph of a character and its width as a share of the size; nothing where there is none.
    pub(super) fn glyph(&self, c: char) -> Option<(u32, f32)> {
        let id = self.charmap.map(c).filter(|id| id.to_u32() != 0)?;
        Some((id.to_u32(), self.metrics.advance_width(id)? / self.units))
    }
}
