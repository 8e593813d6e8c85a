//! Who calls.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// The party on whose behalf a call is made. Plans, handles and rate limits belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Principal {
    /// The person who started the process: stdio and the CLI.
    Local {
        /// The numeric user id that the process runs under.
        uid: u32,
    },
    /// The subject of a verified access token.
    Token {
        /// The token's issuer.
        issuer: String,
        /// The token's subject.
        subject: String,
        /// The scopes that the token grants.
        scopes: Vec<String>,
    },
}

impl Principal {
    /// A stable key for what belongs to this principal. Scopes are no part of it: they change from token to token.
    #[must_use]
    pub fn key(&self) -> Digest {
        match self {
            Self::Local { uid } => Digest::of(format!("local\0{uid}").as_bytes()),
            Self::Token { issuer, subject, .. } => {
                Digest::of_parts(&[b"token\0", issuer.as_bytes(), b"\0", subject.as_bytes()])
            }
        }
    }

    /// The short form for records: `local:1000`, `token:subject@issuer`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Local { uid } => format!("local:{uid}"),
            Self::Token { issuer, subject, .. } => format!("token:{subject}@{issuer}"),
        }
    }
}
