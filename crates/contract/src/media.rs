//! Pictures and sounds beside a result's text.

use serde::{Deserialize, Serialize};

/// What of a result is no text: a picture, a sound, or bytes of a known kind, as they came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// What it is.
    pub kind: MediaKind,
    /// Its media type, by its own bytes.
    pub mime: String,
    /// Its bytes, in base64 (RFC 4648 §4).
    pub data: String,
}

/// What a medium is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MediaKind {
    /// To look at.
    Image,
    /// To hear.
    Audio,
    /// For programs.
    Other,
}
