//! Pictures of examples: before, now, and what differs.

use std::collections::BTreeMap;

use contract::{Digest, Fault};
use kits::{Picture, Pictures};
use pictures::{Method, Picture as Pixels, compare};

use super::look::Look;
use crate::visual;

/// How much of the page is left around what is on it, in pixels.
const MARGIN: u32 = 24;

/// The smallest picture, in pixels, unless the page is smaller.
const LEAST: (u32, u32) = (320, 160);

/// The pictures of an example in a scheme: before, now, and what differs.
pub(super) fn of(
    source: &str,
    scheme: &str,
    look: &Look,
    earlier: Option<&Look>,
    is_same: bool,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<Pictures, Fault> {
    let mut after = visual::read(&look.png, source)?;
    let mut before = earlier.map(|earlier| visual::read(&earlier.png, source)).transpose()?;
    cut(&mut after, before.as_mut());
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
    } else if let Some(before) = before {
        // The same browser drew both: whatever differs is the change's.
        let difference = compare(&before, &after, Method::Exact);
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
    let mut picture = visual::read(&look.png, source)?;
    cut(&mut picture, None);
    let path = format!("pictures/{}-{scheme}-before.png", slug(source));
    files.insert(path.clone(), visual::write(&picture)?);
    let (width, height) = (picture.width(), picture.height());
    let before = Some(Picture { path, width, height });
    Ok(Pictures { scheme: scheme.to_owned(), before, ..Pictures::default() })
}

/// Cuts off what is nothing but the page's own colour, on the right and below: components are often much smaller than a window.
/// Two pictures are cut alike, and only where both have the same colour there.
fn cut(one: &mut Pixels, other: Option<&mut Pixels>) {
    let Some(ground) = one.ground() else { return };
    if other.as_ref().is_some_and(|other| other.ground() != Some(ground)) {
        return;
    }
    let (mut width, mut height) = one.extent(ground);
    if let Some(other) = &other {
        let extent = other.extent(ground);
        (width, height) = (width.max(extent.0), height.max(extent.1));
    }
    let (width, height) = ((width + MARGIN).max(LEAST.0), (height + MARGIN).max(LEAST.1));
    *one = one.part(width, height);
    if let Some(other) = other {
        *other = other.part(width, height);
    }
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
