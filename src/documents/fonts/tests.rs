//! The fonts are those of the program, less what nobody reads.

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, GlyphId, MetadataProvider};

use super::unhinted::unhinted;
use super::{BOLD, REGULAR};

/// What is drawn, as numbers.
#[derive(Default, PartialEq, Debug)]
struct Drawn(Vec<f32>);

impl OutlinePen for Drawn {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.extend([x, y]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.extend([x, y]);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.0.extend([cx, cy, x, y]);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        self.0.extend([cx0, cy0, cx1, cy1, x, y]);
    }

    fn close(&mut self) {
        self.0.push(f32::MAX);
    }
}

fn drawn(font: &FontRef<'_>, id: GlyphId) -> Option<Drawn> {
    let mut drawn = Drawn::default();
    let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
    font.outline_glyphs().get(id)?.draw(settings, &mut drawn).ok()?;
    Some(drawn)
}

#[test]
fn every_glyph_is_drawn_as_before() {
    for bytes in [REGULAR, BOLD] {
        let less = unhinted(bytes).unwrap();
        assert!(less.len() * 4 < bytes.len() * 3, "{} of {}", less.len(), bytes.len());
        let (before, after) = (FontRef::new(bytes).unwrap(), FontRef::new(&less).unwrap());
        let count = before.maxp().unwrap().num_glyphs();
        assert_eq!(after.maxp().unwrap().num_glyphs(), count);
        let mut outlines = 0;
        for id in (0..count).map(|id| GlyphId::new(id.into())) {
            let drawn_before = drawn(&before, id);
            outlines += usize::from(drawn_before.is_some());
            assert_eq!(drawn_before, drawn(&after, id), "{id}");
        }
        assert!(outlines > 11_000, "{outlines}");
        assert_eq!(before.charmap().map('한'), after.charmap().map('한'));
    }
}

#[test]
fn what_is_no_font_is_refused() {
    for bytes in [&b""[..], b"\0\x01\0\0", b"OTTO\0\x01", &REGULAR[..5_000]] {
        assert_eq!(unhinted(bytes), None);
    }
}
