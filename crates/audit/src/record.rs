//! The records of the ledger, and how they are sealed into one line each.

use contract::canonical::{self, Text};
use contract::{CallId, Digest, Fault, PlanId, TranscriptId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chain::RatchetKey;
use crate::merkle;

/// Whether a call rehearsed or performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionMode {
    /// Nothing was to change.
    DryRun,
    /// The plan was to be applied.
    Apply,
}

/// What one call leaves behind. Field names are those of the seed's transcript table and DESIGN §6; they stand in the order in which a
/// record has them, so that sealing it has less to put into order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// Root-relative paths created or modified.
    pub artifacts: Vec<String>,
    /// How the programs were confined; `none` when none ran.
    pub confinement: String,
    /// What its answer cost whoever asked, where that was measured: calls of a client have it, a person's commands and records of
    /// before it was measured do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What policy decided, and by which rule.
    pub decision: String,
    /// The hash of the tool's definition at the time.
    pub definition_hash: Option<Digest>,
    /// The plan's diff, redacted and bounded: what a reader of the report sees.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// The plan's effects, one line each, as they were shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// What went wrong, when something did.
    pub error: Option<Fault>,
    /// Whether the call rehearsed or performed.
    pub execution_mode: ExecutionMode,
    /// The exit code of the program that the tool ran; `null` when it ran none.
    pub exit_code: Option<i32>,
    /// Names this record: a version 4 UUID.
    pub id: TranscriptId,
    /// What the call was held to bring into its session or out of it, where policy counts that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The plan that was made or applied.
    pub plan_id: Option<PlanId>,
    /// Who called.
    pub principal: String,
    /// The hosts that programs of the call reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
    /// Where in the arguments something was redacted.
    pub redactions: Vec<String>,
    /// The hosts that they asked for and that no tool of the call names, or that are where nothing may be reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// The root that the call worked in, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The program's standard error, or the fault's message, redacted and bounded.
    pub stderr: String,
    /// The program's standard output, or the tool's message, redacted and bounded.
    pub stdout: String,
    /// When it ended.
    #[serde(rename = "timestamp_end")]
    pub timestamp_end: String,
    /// When the call began: RFC 3339, UTC, milliseconds.
    #[serde(rename = "timestamp_start")]
    pub timestamp_start: String,
    /// The arguments, redacted.
    pub tool_args: Value,
    /// The id of the JSON-RPC request, or what the CLI made up.
    pub tool_call_id: CallId,
    /// The tool's wire name; for an unknown tool, what was asked for.
    pub tool_name: String,
    /// Whose tool it is, where it is another server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
}

/// A server whose tool was called, as its definition that was approved has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upstream {
    /// What it is called in the configuration.
    pub name: String,
    /// Where it is: its URL, or the place of its program.
    pub at: String,
    /// What it calls itself, and its version.
    pub server: String,
}

/// What an answer would have been without us, and what it was. Tokens are those of the integer rule
/// ([`contract::tokens_used`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// What `whole` is of.
    pub basis: Basis,
    /// Their tokens: names, descriptions and input schemas, which is what models are given of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub menu: u64,
    /// Answers to `tools/list` in that session since its last transcript.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub menus: u64,
    /// The programs whose output is kept: the first 8 digits of each handle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// The conversation: 16 hexadecimal digits, random for a connection, or made of a session's or a principal's name and the
    /// hour.
    pub session: String,
    /// Tokens of the answer as it went out: the JSON of a result or an error, the text of a resource.
    pub shown: u64,
    /// Tokens of what `basis` names, counted up to [`Cost::MOST`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub whole: u64,
}

impl Cost {
    /// Tokens beyond which nothing is counted: a million characters.
    pub const MOST: u64 = 275_000;

    /// How many digits of a run's handle are kept.
    pub const RUN: usize = 8;
}

/// What is nothing is not written: every call pays for what its record says.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a whole is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// What programs said, on both streams.
    Output,
    /// The answer before a list or a diff was cut.
    Cut,
    /// Nothing that can be compared.
    None,
}

impl Transcript {
    /// About how many bytes of text it holds: what sealing it costs grows with them.
    #[must_use]
    pub fn text_len(&self) -> usize {
        let effects: usize = self.effects.iter().chain(&self.artifacts).map(String::len).sum();
        weight(&self.tool_args) + self.stdout.len() + self.stderr.len() + self.diff.len() + effects
    }
}

fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// Written and synced before an apply starts. One without a transcript is evidence of a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// The transcript that is to follow.
    pub id: TranscriptId,
    /// The tool.
    pub tool_name: String,
    /// The plan about to be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
    /// Who called.
    pub principal: String,
    /// When.
    pub timestamp: String,
}

/// The first record of every segment: what came before, so that a missing segment shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Segment {
    /// The ledger's random id, the same in all its segments.
    pub ledger: String,
    /// The segment's number, from 1.
    pub segment: u64,
    /// The Ed25519 key that signs checkpoints from here on, base64.
    pub public_key: String,
    /// The Merkle tree's frontier over all records before this one, largest subtree first.
    pub frontier: Vec<Digest>,
    /// When the segment was begun.
    pub timestamp: String,
}

/// What recovery found and did when a process opened a ledger that another had left unfinished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    /// What was found, for people.
    pub reason: String,
    /// Whole records that had been written but not yet counted.
    pub adopted: u64,
    /// Bytes of a torn last line, moved aside.
    pub torn_bytes: u64,
    /// The digest of those bytes.
    pub torn_digest: Option<Digest>,
    /// When.
    pub timestamp: String,
}

/// A change of the signing key, signed by the key that it replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rekey {
    /// The key from here on, base64.
    pub public_key: String,
    /// The old key's signature over `gatewright rekey`, the ledger's id and the new key, base64.
    pub signature: String,
    /// When.
    pub timestamp: String,
}

/// Any record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Body {
    /// Begins a segment.
    Segment(Segment),
    /// Precedes an apply.
    Intent(Intent),
    /// Ends a call.
    Transcript(Box<Transcript>),
    /// Follows a crash.
    Recovery(Recovery),
    /// Replaces the signing key.
    Rekey(Rekey),
}

/// A record as it stands in the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its place, from 0, over all segments.
    pub seq: u64,
    /// The `integrityHash` of the record before; zeros for the first.
    pub prev_hash: Digest,
    /// What only whoever has this place's ratchet key can make.
    #[serde(flatten)]
    pub mac: Mac,
    /// SHA-256 of the canonical record without this field and `hmac`, which is made of it.
    pub integrity_hash: Digest,
    /// What it says.
    #[serde(flatten)]
    pub body: Body,
}

/// A record's MAC: HMAC-SHA-256 under the ratchet key of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mac {
    /// Of `integrityHash`: what is written is gone through once, not three times.
    #[serde(rename = "hmac")]
    OfHash(Digest),
    /// Of the canonical record without this field and `integrityHash`, which covers it: what was written before 28 November 2026.
    #[serde(rename = "mac")]
    OfText(Digest),
}

/// The leaf of a record in the Merkle tree: the hash and the MAC that bind all of it.
fn leaf(hash: &Digest, mac: &Digest) -> Digest {
    let mut bound = [0; 64];
    bound[..32].copy_from_slice(hash.as_bytes());
    bound[32..].copy_from_slice(mac.as_bytes());
    merkle::leaf(&bound)
}

/// The leaf of `line`, which need not be a record: one that is damaged stands for its own bytes.
#[must_use]
pub fn leaf_of(line: &[u8]) -> Digest {
    bound(line).map_or_else(|_| merkle::leaf(line), |bound| bound.leaf)
}

/// A sealed record: its line (without the newline), and what comes of it.
pub struct Sealed {
    /// The canonical bytes.
    pub line: Vec<u8>,
    /// The record's `integrityHash`.
    pub hash: Digest,
    /// Its leaf in the Merkle tree.
    pub leaf: Digest,
    /// The ratchet key of the next place.
    pub next: RatchetKey,
}

/// Seals `body` at `seq` after `prev_hash`. What would not read back is refused: it would break the chain for good.
pub fn seal(
    body: &Body,
    seq: u64,
    prev_hash: Digest,
    key: &RatchetKey,
) -> Result<Sealed, canonical::Refusal> {
    seal_text(text_of(body)?, seq, prev_hash, key)
}

/// What a record says, written: all of it that does not depend on its place.
pub(crate) fn text_of(body: &Body) -> Result<Text, canonical::Refusal> {
    // Written once: what is computed is put into what it was computed from. So is its type, which would not come in order.
    let (mut text, kind) = match body {
        Body::Segment(inner) => (Text::of(inner)?, "segment"),
        Body::Intent(inner) => (Text::of(inner)?, "intent"),
        Body::Transcript(inner) => (Text::of(&**inner)?, "transcript"),
        Body::Recovery(inner) => (Text::of(inner)?, "recovery"),
        Body::Rekey(inner) => (Text::of(inner)?, "rekey"),
    };
    text.insert("type", kind)?;
    Ok(text)
}

/// Seals what was written.
pub(crate) fn seal_text(
    mut text: Text,
    seq: u64,
    prev_hash: Digest,
    key: &RatchetKey,
) -> Result<Sealed, canonical::Refusal> {
    text.insert("seq", &seq)?;
    text.insert("prevHash", &prev_hash)?;
    let hash = Digest::of(text.bytes());
    let (mac, next) = key.mac_and_next(hash.as_bytes());
    text.insert("hmac", &mac)?;
    text.insert("integrityHash", &hash)?;
    Ok(Sealed { line: text.into_bytes(), hash, leaf: leaf(&hash, &mac), next })
}

/// Why a line is not an intact record.
#[derive(Debug, thiserror::Error)]
pub enum NotIntact {
    /// Not canonical JSON without duplicate keys.
    #[error("{0}")]
    Bytes(#[from] canonical::Refusal),
    /// Canonical JSON that is not a record.
    #[error("not a record: {0}")]
    Shape(serde_json::Error),
    /// The content does not have the hash that it states.
    #[error("the content does not have the hash that it states")]
    Hash,
    /// It has no MAC, or one of each kind.
    #[error("it does not have one MAC")]
    Mac,
}

/// A record read back.
#[derive(Debug)]
pub struct Opened {
    /// The record.
    pub entry: Entry,
    /// Its leaf in the Merkle tree: of its hash and its MAC, or, of a record of before, of the whole line.
    pub leaf: Digest,
    /// The canonical bytes that the MAC of a record of before covers.
    covered: Vec<u8>,
}

impl Opened {
    /// Whether `key` is the one that it was sealed with.
    #[must_use]
    pub fn is_sealed_with(&self, key: &RatchetKey) -> bool {
        match &self.entry.mac {
            Mac::OfHash(mac) => key.verify(self.entry.integrity_hash.as_bytes(), mac),
            Mac::OfText(mac) => key.verify(&self.covered, mac),
        }
    }
}

/// What a line binds, whatever it says.
pub(crate) struct Bound {
    /// Its `integrityHash`, which it has.
    pub(crate) hash: Digest,
    /// Its leaf in the Merkle tree.
    pub(crate) leaf: Digest,
    /// What its MAC covers, of a record of before.
    covered: Vec<u8>,
}

/// Parses a line and checks its own hash. A reader that does not know what it says knows this much of it.
pub(crate) fn bound(line: &[u8]) -> Result<Bound, NotIntact> {
    binds(canonical::parse_canonical(line)?, line)
}

fn binds(value: Value, line: &[u8]) -> Result<Bound, NotIntact> {
    let Value::Object(mut object) = value else { return Err(NotIntact::Hash) };
    let mut taken = |key| object.remove(key).and_then(|value| serde_json::from_value::<Digest>(value).ok());
    let (stated, hmac) = (taken("integrityHash"), taken("hmac"));
    let hash = Digest::of(&canonical::of_object(&object));
    if stated != Some(hash) {
        return Err(NotIntact::Hash);
    }
    match (hmac, object.remove("mac")) {
        (Some(hmac), None) => Ok(Bound { hash, leaf: leaf(&hash, &hmac), covered: Vec::new() }),
        (None, Some(_)) => {
            Ok(Bound { hash, leaf: merkle::leaf(line), covered: canonical::of_object(&object) })
        }
        _ => Err(NotIntact::Mac),
    }
}

/// Parses a line and checks its own hash. Its place and its MAC are the reader's to check.
pub fn open(line: &[u8]) -> Result<Opened, NotIntact> {
    let value = canonical::parse_canonical(line)?;
    let Bound { leaf, covered, .. } = binds(value.clone(), line)?;
    let entry = serde_json::from_value(value).map_err(NotIntact::Shape)?;
    Ok(Opened { entry, leaf, covered })
}
