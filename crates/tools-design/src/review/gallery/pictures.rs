//! Pictures of examples: before, now, and what differs.

use std::collections::BTreeMap;

use contract::{Digest, Fault};
use kits::{Picture, Pictures};
use pictures::{Method, Picture as Pixels, compare};

use super::look::Look;
use crate::visual;

/// The pictures of an example in a scheme: before, now, and what differs.
pub(super) fn of(
    source: &str,
    scheme: &str,
    look: &Look,
    earlier: Option<&Look>,
    is_same: bool,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<Pictures, Fault> {
    let after = visual::read(&look.png, source)?;
    let stem = format!("pictures/{}-{scheme}", slug(source));
    let mut keep = |what: &str, picture: &Pixels| -> Result<Picture, Fault> {
        let path = format!("{stem}-{what}.png");
        // Written by us, so that the same picture always has the same bytes.
        files.insert(path.clone(), visual::write(picture)?);
        Ok(Picture { path, width: picture.width(), height: picture.height() })
    };
    let now = keep("after", &after)?;
    let mut shown = Pictures { scheme: scheme.to_owned(), after: Some(now.clone()), ..Pictures::default() };
    if is_same {
        shown.before = Some(now);
    } else if let Some(earlier) = earlier {
        let before = visual::read(&earlier.png, source)?;
        let difference = compare(&before, &after, Method::Perceptual);
        shown.pixels = difference.pixels;
        shown.share = (difference.share * 1e6).round() / 1e6;
        shown.before = Some(keep("before", &before)?);
        if difference.pixels > 0 {
            shown.difference = Some(keep("difference", &difference.shown)?);
        }
    }
    Ok(shown)
}

/// The last picture of what is gone.
pub(super) fn last(
    source: &str,
    scheme: &str,
    look: &Look,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<Pictures, Fault> {
    let picture = visual::read(&look.png, source)?;
    let path = format!("pictures/{}-{scheme}-before.png", slug(source));
    files.insert(path.clone(), visual::write(&picture)?);
    let (width, height) = (picture.width(), picture.height());
    let before = Some(Picture { path, width, height });
    Ok(Pictures { scheme: scheme.to_owned(), before, ..Pictures::default() })
}

/// A name for files, of a path: what is no plain character is a dash, and a digest tells those apart that become the same.
fn slug(source: &str) -> String {
    let plain: String = source
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let plain: String = plain.chars().rev().take(48).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{}-{}", plain.trim_matches('-'), Digest::of(source.as_bytes()).short(6))
}
