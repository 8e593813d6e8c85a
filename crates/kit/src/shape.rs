//! The last thing that happens to a result: secrets and deceptive characters leave, absolute places become relative,
//! and it is made to fit its budget.

use audit::Redactor;
use contract::reply::Envelope;
use contract::text::{is_visible, spelled_name, spelled_out, visible};
use contract::{Fault, Metadata, Reply, Truncated, tokens_used};
use serde_json::{Map, Value};

use crate::cost::{Characters, characters};

/// What a result may cost by default, in tokens.
pub const BUDGET: u64 = 4_000;

/// What no result may cost, in tokens.
pub const HARD_CAP: u64 = 20_000;

/// Most bytes of a fault's message.
const MAX_MESSAGE: usize = 16 * 1024;

/// How many characters `tokens` are.
#[must_use]
pub const fn chars(tokens: u64) -> u64 {
    tokens * 40 / 11
}

/// Cleans what goes out.
pub struct Cleaner<'a> {
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// Absolute places and what they are called instead, longest first.
    pub places: &'a [(String, String)],
}

impl Cleaner<'_> {
    /// Text as it may leave.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        visible(&self.without_secrets(text))
    }

    /// Text of a diff as it may leave: what would be taken away is written out, so that no change is hidden.
    #[must_use]
    pub fn reviewed(&self, text: &str) -> String {
        spelled_out(&self.without_secrets(text))
    }

    /// A name that somebody made up, as it may leave: written out, so that it passes for no other.
    #[must_use]
    pub fn named(&self, name: &str) -> String {
        spelled_name(&self.without_secrets(name))
    }

    fn without_secrets(&self, text: &str) -> String {
        let mut clean = self.redactor.text(text).into_owned();
        for (place, name) in self.places {
            if clean.contains(place.as_str()) {
                clean = replaced(&clean, place, name);
            }
        }
        clean
    }

    /// A value as it may leave.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        self.characters(&self.redactor.value(value).value)
    }

    /// The same, of a value that nobody else wants: one that is clean, as most are, is given back as it is.
    #[must_use]
    pub fn taken(&self, value: Value) -> Value {
        if self.is_clean(&value) { value } else { self.value(&value) }
    }

    fn is_clean(&self, value: &Value) -> bool {
        self.redactor.is_clean(value, &|text| {
            is_visible(text) && !self.places.iter().any(|(place, _)| text.contains(place.as_str()))
        })
    }

    fn characters(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|v| self.characters(v)).collect(),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(k, v)| (self.text(k), self.characters(v))).collect())
            }
            other => other.clone(),
        }
    }

    /// A fault as it may leave.
    #[must_use]
    pub fn fault(&self, mut fault: Fault) -> Fault {
        // An error is a result, too: what it repeats of the arguments is no way around the budget.
        fault.message = bounded(&self.text(&fault.message), MAX_MESSAGE);
        fault.suggestions.iter_mut().for_each(|s| *s = self.text(s));
        fault.affected_files.iter_mut().for_each(|s| *s = self.text(s));
        fault
    }
}

/// `text` with `place` called `name`, wherever it is a whole path or the front of one: `/srv/app` is no part of
/// `/srv/application`, and `/root` none of `dist/root.css`.
fn replaced(text: &str, place: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find(place) {
        let (before, after) = (&rest[..found], &rest[found + place.len()..]);
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        out.push_str(before);
        out.push_str(if after.starts_with(goes_on) || is_within_path(before) { place } else { name });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether what follows `before` goes on with a path that began there: as in `dist`, not as in `file://` or `-I`.
fn is_within_path(before: &str) -> bool {
    let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let from = before.rfind(|c| !is_of_path(c)).map_or(0, |at| before.ceil_char_boundary(at + 1));
    let (ahead, run) = before.split_at(from);
    // `\n` of a text that was escaped, and the end of what sets a terminal's colours.
    let run = match ahead.chars().next_back() {
        Some('\\') => run.get(1..).unwrap_or_default(),
        Some('[' | ';') => {
            run.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('m').unwrap_or(run)
        }
        _ => run,
    };
    let is_flag = run.starts_with('-') && !run.contains('/');
    !is_flag && run.contains(|c: char| c != '/')
}

/// How many characters the reply's JSON has without its metadata, counted as it is written: no copy is made.
fn cost(envelope: &Envelope, output: &Map<String, Value>) -> Result<u64, Fault> {
    // A colon and a comma; the braces are one more than the last comma.
    let entry = |name: &str, value: &Value| characters(&name) + characters(value) + 2;
    let own = |shadowed: &dyn Fn(&str) -> bool| -> u64 {
        output.iter().filter(|(name, _)| !shadowed(name)).map(|(name, value)| entry(name, value)).sum()
    };
    if !output.keys().any(|name| Envelope::may_have(name)) {
        let about = characters(&"metadata") + characters(&envelope.metadata) + 2;
        return Ok(characters(envelope) - about + own(&|_| false));
    }
    let failed = |e: serde_json::Error| Fault::internal(e.to_string());
    let Value::Object(mut fields) = serde_json::to_value(envelope).map_err(failed)? else { return Ok(0) };
    fields.remove("metadata");
    let about: u64 = fields.iter().map(|(name, value)| entry(name, value)).sum();
    // The envelope's fields are not replaced by the tool's.
    Ok(about + own(&|name| name == "metadata" || fields.contains_key(name)) + 1)
}

/// A reply, and its size.
#[derive(Debug)]
pub struct Shaped {
    /// The reply.
    pub reply: Reply,
    /// Characters of its JSON, metadata left out.
    pub shown: u64,
    /// Characters that it had before its diff was cut.
    pub whole: u64,
}

/// Puts a reply together within `budget` tokens: the plan's diff is what gives way.
pub fn reply(mut envelope: Envelope, output: Map<String, Value>, budget: u64) -> Result<Shaped, Fault> {
    let allowed = chars(budget);
    let mut size = cost(&envelope, &output)?;
    let whole = size;
    if size > allowed
        && let Some(plan) = &mut envelope.plan
    {
        let total = plan.diff.lines().count() as u64;
        let keep = written(&plan.diff).saturating_sub(size - allowed + 200);
        plan.diff = lines_within(&plan.diff, keep);
        let shown = plan.diff.lines().count() as u64;
        // What else was cut says so itself; the diff's own cut stands in the diff.
        if envelope.truncated.is_none() {
            let next = format!("gatewright plan show {}", plan.id);
            envelope.truncated = Some(Truncated { shown, total, next });
        } else {
            plan.diff.push_str(&format!("… {shown} of {total} lines shown\n"));
        }
        size = cost(&envelope, &output)?;
    }
    if size > chars(HARD_CAP) {
        let message = format!("the result is {} tokens, the cap is {HARD_CAP}", tokens_used(size));
        return Err(Fault::new(contract::Code::TooLarge, message)
            .suggest("Ask for less: a narrower input, or a smaller limit."));
    }
    envelope.metadata.tokens_used = tokens_used(size);
    Ok(Shaped { reply: Reply { envelope, output, media: Vec::new() }, shown: size, whole })
}

/// How many characters `field` of `output` may take in a result of `budget` tokens with this message.
#[must_use]
pub fn room(message: &str, output: &Map<String, Value>, field: &str, budget: u64) -> u64 {
    /// What the envelope takes besides.
    const ENVELOPE: u64 = 300;
    let others = output.iter().filter(|(name, _)| *name != field);
    let taken =
        others.map(|(name, value)| (name.len() + value.to_string().chars().count() + 4) as u64).sum::<u64>();
    chars(budget).saturating_sub(ENVELOPE + taken + message.chars().count() as u64)
}

/// How many characters `text` takes in JSON.
fn written(text: &str) -> u64 {
    let mut written = Characters(0);
    // It counts, and cannot fail.
    let _ = serde_json::to_writer(&mut written, text);
    written.0.saturating_sub(2)
}

/// The first lines of `text` that take at most `most` characters in JSON.
fn lines_within(text: &str, most: u64) -> String {
    let mut used = 0;
    let fits = |line: &&str| {
        used += written(line);
        used <= most
    };
    text.split_inclusive('\n').take_while(fits).collect()
}

/// The beginning of `text`, at most `most` bytes, on a character boundary, with a mark where it was cut.
#[must_use]
pub fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}… [{} bytes in all]", &text[..end], text.len())
}

/// Metadata of a call that failed with `fault`.
#[must_use]
pub fn failed(fault: &Fault) -> Metadata {
    Metadata { tokens_used: tokens_used(of_fault(fault)), ..metadata() }
}

/// Characters of the answer of a call that failed with `fault`, metadata left out.
#[must_use]
pub(crate) fn of_fault(fault: &Fault) -> u64 {
    characters(&serde_json::json!({ "success": false, "error": fault }))
}

/// Metadata before the cost is known.
#[must_use]
pub const fn metadata() -> Metadata {
    Metadata { tokens_used: 0, duration: 0, results_count: None, transcript: None }
}

#[cfg(test)]
mod tests {
    use contract::{Digest, PlanId, PlanView, Status};

    use super::*;

    fn envelope(diff: String) -> Envelope {
        Envelope {
            plan: Some(PlanView { id: PlanId::from_digest(Digest::ZERO), effects: vec![], diff }),
            ..Envelope::new(true, Status::Proposed, "m".into(), metadata())
        }
    }

    #[test]
    fn the_cost_is_that_of_the_text_without_metadata() {
        let envelope = envelope("+ ä\n".into());
        for output in [
            serde_json::json!({"text": "é\n\u{1f600}", "list": [{"a": null}]}),
            serde_json::json!({"success": 1, "metadata": 2, "runs": [], "text": "é\n"}),
            serde_json::json!({}),
        ] {
            let output = output.as_object().unwrap();
            let mut value = Reply { envelope: envelope.clone(), output: output.clone(), media: Vec::new() }
                .to_value()
                .unwrap();
            value.as_object_mut().unwrap().remove("metadata");
            assert_eq!(cost(&envelope, output).unwrap(), value.to_string().chars().count() as u64);
        }
    }

    #[test]
    fn the_diff_gives_way_to_the_budget_and_says_so() {
        let diff = "+ a line of the diff\n".repeat(5_000);
        let Shaped { reply, shown, whole } = reply(envelope(diff), Map::new(), BUDGET).unwrap();
        assert!(reply.envelope.metadata.tokens_used <= BUDGET);
        assert_eq!(tokens_used(shown), reply.envelope.metadata.tokens_used);
        assert!(whole > shown + 50_000, "{whole} characters before it was cut to {shown}");
        let truncated = reply.envelope.truncated.unwrap();
        assert_eq!(truncated.total, 5_000);
        let shown = reply.envelope.plan.unwrap().diff.lines().count() as u64;
        assert_eq!(truncated.shown, shown);
        assert!(shown > 100);
    }

    #[test]
    fn what_json_makes_longer_is_cut_no_further_than_needed() {
        let diff = "+ \"a\": \"\\\"\"\n".repeat(5_000);
        let reply = reply(envelope(diff), Map::new(), BUDGET).unwrap().reply;
        let used = reply.envelope.metadata.tokens_used;
        assert!((BUDGET - 200..=BUDGET).contains(&used), "{used}");
    }

    #[test]
    fn places_are_replaced_as_paths_and_not_as_text() {
        let all = "/srv/app /srv/app/x /srv/application /srv/app-2 \"/srv/app\"";
        assert_eq!(
            replaced(all, "/srv/app", "<root>"),
            "<root> <root>/x /srv/application /srv/app-2 \"<root>\""
        );
        for (text, clean) in [
            ("create dist/root.css", "create dist/root.css"),
            ("https://example.com/root/x", "https://example.com/root/x"),
            ("../root/x ./root a@b/root", "../root/x ./root a@b/root"),
            ("file:///root/x", "file://~/x"),
            ("cc -I/root/include --prefix=/root", "cc -I~/include --prefix=~"),
            ("(/root) '/root/a' host:/root/b", "(~) '~/a' host:~/b"),
            ("\u{1b}[31m/root/a \u{1b}[1;31m/root/b", "\u{1b}[31m~/a \u{1b}[1;31m~/b"),
            ("a\\n/root/a +/root/b x@/root/c", "a\\n~/a +~/b x@~/c"),
        ] {
            assert_eq!(replaced(text, "/root", "~"), clean);
        }
    }

    #[test]
    fn what_cannot_be_cut_is_refused_and_not_sent() {
        let output = serde_json::json!({"x": "y".repeat(200_000)}).as_object().unwrap().clone();
        assert_eq!(
            reply(envelope(String::new()), output, BUDGET).unwrap_err().code,
            contract::Code::TooLarge
        );
    }
}
