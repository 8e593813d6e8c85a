//! Secrets leave before anything is written, indexed or returned.
//!
//! Four layers, in order: values that are known to be secret, in every encoding that programs commonly print;
//! keyed contexts (`password=…`, `"apiKey": …`); providers' token shapes; PEM and JWT shapes. A literal prefilter
//! comes first, so that text without any trigger costs one scan. What is replaced leaves `[redacted:KIND:TAG]`:
//! of fixed length per kind, its tag keyed, so that equal secrets can be recognised and none can be guessed.

mod keys;
mod known;
mod rules;
mod views;

use std::borrow::Cow;
use std::ops::Range;

use contract::Digest;
use serde_json::{Map, Value};

use crate::chain;
pub use keys::is_sensitive;
pub use known::from_environment;

/// Deepest nesting that is walked; what lies deeper is replaced whole.
const MAX_DEPTH: usize = 128;

/// Replaces secrets in text, bytes and JSON. Cheap to share.
#[derive(Debug)]
pub struct Redactor {
    tag_key: [u8; 32],
    known: known::Known,
    rules: rules::Rules,
}

/// Something to replace: where, and what kind it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hit {
    range: Range<usize>,
    kind: &'static str,
}

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its bytes.
    pub range: Range<usize>,
    /// Whether it is one by its shape, or known: not only because something around it is called a secret.
    pub is_certain: bool,
}

/// A JSON value without its secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct RedactedValue {
    /// The value.
    pub value: Value,
    /// Where something was replaced: dotted paths, in order.
    pub redactions: Vec<String>,
}

impl Redactor {
    /// A redactor that knows `secrets` (values of eight characters or more; shorter ones would hit by chance). What finds them
    /// is made when it is first needed.
    #[must_use]
    pub fn new(secrets: &[String], tag_key: [u8; 32]) -> Self {
        Self { tag_key, known: known::Known::new(secrets), rules: rules::Rules::new() }
    }

    /// `text` without its secrets; borrowed when it has none.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Hits lie on character boundaries wherever the input is UTF-8, and tags are ASCII.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// `bytes` without their secrets, looked at as they are, without terminal escapes, and as UTF-16.
    #[must_use]
    pub fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let hits = self.hits(bytes);
        if hits.is_empty() {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(self.replace(bytes, merged(hits)))
    }

    /// Where secrets are, sorted. Where a certain one lies in what is only called one, both are given.
    #[must_use]
    pub fn secrets(&self, bytes: &[u8]) -> Vec<Secret> {
        let hits = self.hits(bytes);
        let (named, certain): (Vec<Hit>, Vec<Hit>) =
            hits.into_iter().partition(|hit| rules::is_by_name(hit.kind));
        let of = |hits, is_certain| {
            merged(hits).into_iter().map(move |Hit { range, .. }| Secret { range, is_certain })
        };
        let mut all: Vec<Secret> = of(certain, true).chain(of(named, false)).collect();
        all.sort_by_key(|secret| (secret.range.start, secret.range.end));
        all
    }

    /// `bytes` without what is certainly a secret: what is only called one stays, as it must in code.
    #[must_use]
    pub fn certain<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let mut hits = self.hits(bytes);
        hits.retain(|hit| !rules::is_by_name(hit.kind));
        if hits.is_empty() {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(self.replace(bytes, merged(hits)))
    }

    fn hits(&self, bytes: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.known.find(bytes, |hit| hits.push(hit));
        self.rules.find(bytes, |hit| hits.push(hit));
        for view in views::others(bytes) {
            self.known.find(&view.bytes, |hit| hits.push(view.original(hit)));
            self.rules.find(&view.bytes, |hit| hits.push(view.original(hit)));
        }
        hits
    }

    /// `value` without its secrets: by key, at any depth, whatever the type; and by shape, in keys and strings.
    #[must_use]
    pub fn value(&self, value: &Value) -> RedactedValue {
        if self.is_clean(value, &|_| true) {
            return RedactedValue { value: value.clone(), redactions: Vec::new() };
        }
        let mut redactions = Vec::new();
        let value = self.walk(value, &mut String::new(), 0, &mut redactions);
        RedactedValue { value, redactions }
    }

    /// Whether [`value`](Self::value) would leave `value` as it is, and each of its keys and strings is one that `also`
    /// holds of. Nothing is copied.
    #[must_use]
    pub fn is_clean(&self, value: &Value, also: &dyn Fn(&str) -> bool) -> bool {
        self.is_clean_at(value, also, 0)
    }

    fn is_clean_at(&self, value: &Value, also: &dyn Fn(&str) -> bool, depth: usize) -> bool {
        if depth >= MAX_DEPTH {
            return false;
        }
        let is_text = |text: &str| also(text) && matches!(self.text(text), Cow::Borrowed(_));
        match value {
            Value::String(text) => is_text(text),
            Value::Array(items) => items.iter().all(|item| self.is_clean_at(item, also, depth + 1)),
            Value::Object(map) => map.iter().all(|(key, item)| {
                is_text(key) && !hides(key, item) && self.is_clean_at(item, also, depth + 1)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
    }

    fn walk(&self, value: &Value, path: &mut String, depth: usize, found: &mut Vec<String>) -> Value {
        if depth >= MAX_DEPTH {
            found.push(path.clone());
            return self.placeholder("depth", value.to_string().as_bytes()).into();
        }
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(clean) => {
                    found.push(path.clone());
                    Value::String(clean)
                }
            },
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(i, item)| {
                    within(path, &i.to_string(), |path| self.walk(item, path, depth + 1, found))
                });
                Value::Array(items.collect())
            }
            Value::Object(map) => {
                let mut out = Map::new();
                for (key, item) in map {
                    let clean_key = self.text(key).into_owned();
                    let clean = within(path, &clean_key, |path| {
                        if clean_key != *key {
                            found.push(path.clone());
                        }
                        if hides(key, item) {
                            found.push(path.clone());
                            let bytes = item.as_str().map_or_else(|| item.to_string(), str::to_owned);
                            return self.placeholder("key", bytes.as_bytes()).into();
                        }
                        self.walk(item, path, depth + 1, found)
                    });
                    out.insert(clean_key, clean);
                }
                Value::Object(out)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn replace(&self, bytes: &[u8], hits: Vec<Hit>) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for Hit { range, kind } in hits {
            out.extend_from_slice(&bytes[at..range.start]);
            out.extend_from_slice(self.placeholder(kind, &bytes[range.clone()]).as_bytes());
            at = range.end;
        }
        out.extend_from_slice(&bytes[at..]);
        out
    }

    fn placeholder(&self, kind: &str, secret: &[u8]) -> String {
        let tag = Digest::from_bytes(chain::hmac(&self.tag_key, secret)).short(8);
        format!("[redacted:{kind}:{tag}]")
    }
}

/// Whether `key` says that `item` is a secret.
fn hides(key: &str, item: &Value) -> bool {
    let is_none = |text: &str| is_mark(text) || keys::is_spoken_id(key, text);
    is_sensitive(key) && !is_empty(item) && !item.as_str().is_some_and(is_none)
}

/// Whether `text` is what a secret was replaced by, and nothing else: it stays as it is, and keeps its tag.
fn is_mark(text: &str) -> bool {
    let inner = text.strip_prefix("[redacted:").and_then(|rest| rest.strip_suffix(']'));
    inner.and_then(|inner| inner.split_once(':')).is_some_and(|(kind, tag)| {
        kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
            && tag.len() == 8
            && tag.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Nothing is hidden by hiding nothing: absent, false and empty values stay readable.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(_) => false,
    }
}

fn within<T>(path: &mut String, key: &str, work: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(key);
    let result = work(path);
    path.truncate(length);
    result
}

/// Sorted, without overlaps; where two overlap the union goes, under the kind that began first.
fn merged(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|h| (h.range.start, std::cmp::Reverse(h.range.end)));
    let mut out: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match out.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                last.range.end = last.range.end.max(hit.range.end);
            }
            _ => out.push(hit),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secrets: &[&str]) -> Redactor {
        let secrets: Vec<String> = secrets.iter().map(|s| (*s).to_owned()).collect();
        Redactor::new(&secrets, [9; 32])
    }

    proptest::proptest! {
        #[test]
        fn a_value_is_clean_where_it_stays_as_it_is_and_nowhere_else(
            keys in proptest::collection::vec("(token|apiKey|name|session_id|[a-z]{1,5})", 1..4),
            texts in proptest::collection::vec("(|ghp_[a-zA-Z0-9]{36}|[ -~é]{0,20}|\\[redacted:key:[0-9a-f]{8}\\]|the-secret)", 1..4),
            number in 0..3,
            wraps in 0..3_usize,
        ) {
            static REDACTOR: std::sync::LazyLock<Redactor> = std::sync::LazyLock::new(|| redactor(&["the-secret"]));
            let redactor = &*REDACTOR;
            let mut value = Value::Object(keys.iter().cloned().zip(texts.into_iter().map(Value::from)).collect());
            value["n"] = serde_json::json!([number, null, {"password": number}]);
            if number == 0 {
                value["n"] = Value::Null;
            }
            for _ in 0..wraps {
                value = serde_json::json!({ "list": [value] });
            }
            let mut redactions = Vec::new();
            let walked = redactor.walk(&value, &mut String::new(), 0, &mut redactions);
            let stays = walked == value && redactions.is_empty();
            proptest::prop_assert_eq!(redactor.is_clean(&value, &|_| true), stays, "{}", value);
            proptest::prop_assert!(!redactor.is_clean(&value, &|text| text.len() > 100));
        }
    }

    #[test]
    fn r04_a_secret_is_masked_at_any_depth_in_arrays_map_keys_and_numbers() {
        let mut value = serde_json::json!({"apiKey": 12_345_678, "keyword": "kept", "tokensUsed": 5});
        for _ in 0..50 {
            value = serde_json::json!({"list": [value]});
        }
        value["sk_live_51H8xQ2eZvKYlo2C0aBcDeFgHiJk"] = 1.into();
        let clean = redactor(&[]).value(&value);
        let text = clean.value.to_string();
        assert!(!text.contains("12345678") && !text.contains("51H8xQ2eZvKYlo2C0"), "{text}");
        assert!(text.contains(r#""keyword":"kept""#) && text.contains(r#""tokensUsed":5"#));
        assert_eq!(clean.redactions.len(), 2);
    }

    #[test]
    fn what_is_a_secret_by_its_shape_is_told_from_what_is_called_one() {
        let shaped = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!("const token = \"{shaped}\";\nconst password = readPassword(1);\n");
        let redactor = redactor(&[]);
        let found = redactor.secrets(text.as_bytes());
        let certain: Vec<&str> =
            found.iter().filter(|s| s.is_certain).map(|s| &text[s.range.clone()]).collect();
        assert_eq!(certain, [shaped.as_str()], "{found:?}");
        assert!(found.iter().any(|s| !s.is_certain));
        let clean = String::from_utf8(redactor.certain(text.as_bytes()).into_owned()).unwrap();
        assert!(!clean.contains(&shaped) && clean.contains("readPassword(1)"), "{clean}");
    }

    #[test]
    fn r08_tags_are_keyed_and_placeholders_do_not_tell_the_length() {
        let (a, b) = (Redactor::new(&[], [1; 32]), Redactor::new(&[], [2; 32]));
        let short = a.value(&serde_json::json!({"password": "x"})).value["password"].clone();
        let long = a.value(&serde_json::json!({"password": "x".repeat(500)})).value["password"].clone();
        assert_eq!(short.as_str().unwrap().len(), long.as_str().unwrap().len());
        let other = b.value(&serde_json::json!({"password": "x"})).value["password"].clone();
        assert_ne!(short, other, "an unkeyed tag could be looked up");
        let again = a.value(&serde_json::json!({"password": "x"})).value["password"].clone();
        assert_eq!(short, again, "equal secrets are recognisable");
    }

    #[test]
    fn redaction_is_idempotent() {
        let r = redactor(&["correct horse battery"]);
        let text = "password=hunter2hunter2 ghp_0123456789abcdefghijABCDEFGHIJ012345 correct horse battery";
        let once = r.text(text).into_owned();
        assert_eq!(r.text(&once), once);
        let value = serde_json::json!({"apiKey": "0123456789abcdef", "password": 7});
        let once = r.value(&value).value;
        assert_eq!(r.value(&once).value, once);
        let almost = serde_json::json!({"password": "[redacted:key:12345678] and more"});
        assert_ne!(r.value(&almost).value, almost);
    }
}
