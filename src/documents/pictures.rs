//! Pictures out of a row: base64, as it stands or as a data URL (RFC 2397), of a JPEG, PNG, GIF or WebP.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use krilla::image::Image;

use super::values::Unfit;

/// Base64 as people's systems write it, with its padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Whether a viewer smooths them, which PDF/A forbids.
const SMOOTHED: bool = false;

/// The most pixels of a picture: what a camera of today takes, and no bomb.
const MOST_PIXELS: u64 = 120_000_000;

/// A picture as the PDF takes it.
#[derive(Debug, Clone)]
pub(super) struct Picture {
    pub(super) image: Image,
    /// Pixels across and down.
    pub(super) size: (f32, f32),
}

/// Reads a picture; `at` says where it stands in the row.
pub(super) fn picture(text: &str, at: &str) -> Result<Picture, Unfit> {
    let unfit = |why: &str| Unfit(format!("the picture at {at} {why}"));
    let data = match text.strip_prefix("data:") {
        Some(url) => match url.split_once(";base64,") {
            Some((_, data)) => data,
            None => return Err(unfit("is a data URL that is not in base64")),
        },
        None => text,
    };
    let packed: String;
    let data = if data.contains(|c: char| c.is_ascii_whitespace()) {
        packed = data.split_ascii_whitespace().collect();
        &packed
    } else {
        data
    };
    let bytes = BASE64.decode(data).map_err(|_| unfit("is not base64"))?;
    let read = match bytes.as_slice() {
        [0xFF, 0xD8, ..] => Image::from_jpeg(bytes.into(), SMOOTHED),
        [0x89, b'P', b'N', b'G', ..] => Image::from_png(bytes.into(), SMOOTHED),
        [b'G', b'I', b'F', b'8', ..] => Image::from_gif(bytes.into(), SMOOTHED),
        [b'R', b'I', b'F', b'F', ..] => Image::from_webp(bytes.into(), SMOOTHED),
        _ => return Err(unfit("is neither JPEG nor PNG, GIF or WebP")),
    };
    let image = read.map_err(|why| unfit(&format!("cannot be read: {why}")))?;
    let (width, height) = image.size();
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(unfit(&format!(
            "has {width} x {height} pixels; at most {MOST_PIXELS} are read"
        )));
    }
    #[expect(clippy::cast_precision_loss, reason = "few pixels, and their ratio is what counts")]
    let size = (width as f32, height as f32);
    Ok(Picture { image, size })
}
