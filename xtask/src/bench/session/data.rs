//! A store to measure on, as `gatewright store export` would have written it.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::sh::Done;

/// Documents, whatever the number of notes.
const DOCUMENTS: usize = 500;
/// Different texts of documents.
const TEXTS: usize = 20;
/// Handoffs of the last day.
const HANDOFFS: usize = 12;
/// Words that notes are made of; the commonest is in most of them.
const WORDS: u64 = 20_000;

/// What was written.
pub(super) struct Data {
    pub(super) file: PathBuf,
    /// Characters of all texts: of documents, of notes, of handoffs.
    pub(super) characters: [usize; 3],
}

/// A word by its rank: pronounceable, so that stems and prefixes are what they are in life.
pub(super) fn word(rank: u64) -> String {
    const FRONT: [&str; 10] = ["ba", "co", "di", "fu", "ge", "la", "mo", "ni", "pra", "stu"];
    const BACK: [&str; 10] = ["ler", "min", "nod", "pet", "rak", "sin", "tor", "ving", "wes", "zon"];
    let mut rest = rank;
    let mut text = String::new();
    loop {
        let at = usize::try_from(rest % 10).unwrap_or(0);
        text.push_str(FRONT[at]);
        rest /= 10;
        let at = usize::try_from(rest % 10).unwrap_or(0);
        text.push_str(BACK[at]);
        rest /= 10;
        if rest == 0 {
            return text;
        }
    }
}

/// A rank that falls off as in language: the product of two numbers is small more often than not.
fn rank(dice: &mut Dice) -> u64 {
    let (a, b) = (dice.below(WORDS) + 1, dice.below(WORDS) + 1);
    (a * b / WORDS * dice.below(WORDS) / WORDS).min(WORDS - 1)
}

fn text(dice: &mut Dice, words: u64) -> String {
    let words: Vec<String> = (0..words).map(|_| word(rank(dice))).collect();
    words.join(" ")
}

/// A ULID of a number.
fn ulid(prefix: &str, number: usize) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut rest = number;
    let mut digits = [b'0'; 26];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[rest % 32];
        rest /= 32;
    }
    format!("{prefix}{}", String::from_utf8_lossy(&digits))
}

/// SHA-256 of what is written to it, by the system's own program.
fn sha256(bytes: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Done<String> {
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("sha256sum: {e}"))?;
    let mut input = child.stdin.take().map(BufWriter::new).ok_or("sha256sum has no input")?;
    bytes(&mut input).and_then(|()| input.flush()).map_err(|e| e.to_string())?;
    drop(input);
    let said = child.wait_with_output().map_err(|e| e.to_string())?.stdout;
    Ok(String::from_utf8_lossy(&said).split_whitespace().next().unwrap_or_default().to_owned())
}

/// Writes a store of so many notes: a tenth of them the venture's own.
#[expect(clippy::too_many_lines, reason = "a table after another, each with its columns")]
pub(super) fn write(path: &Path, notes: usize) -> Done<Data> {
    let io = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut dice = Dice::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|e| e.to_string())?.as_millis();
    let now = i64::try_from(now).map_err(|e| e.to_string())?;
    let mut characters = [0; 3];
    let documents = (0..TEXTS).map(|_| {
        let text = text(&mut dice, 600);
        Ok((sha256(|into| into.write_all(text.as_bytes()))?, text))
    });
    let documents: Vec<(String, String)> = documents.collect::<Done<_>>()?;
    let rows = path.with_extension("rows");
    let mut out = BufWriter::new(File::create(&rows).map_err(io)?);
    let mut row = |table: &str, fields: &[(&str, Value)]| {
        // In the order of the columns, which a JSON object would not keep.
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        writeln!(out, "{{\"t\":\"{table}\",\"r\":{{{}}}}}", fields.join(",")).map_err(io)
    };
    for n in 0..HANDOFFS {
        let at = now - 1_000_000 - i64::try_from(n).unwrap_or(0);
        row(
            "sessions",
            &[
                ("number", json!(n + 1)),
                ("id", json!(ulid("sess_", n))),
                ("agent", json!(format!("agent {n}"))),
                ("venture", json!("acme")),
                ("repo", json!("github.com/acme/app")),
                ("track", json!("")),
                ("status", json!("ended")),
                ("client", json!("bench")),
                ("client_version", json!(null)),
                ("machine", json!(null)),
                ("branch", json!("main")),
                ("commit_id", json!(null)),
                ("issue", json!(null)),
                ("started", json!(at)),
                ("heartbeat", json!(at)),
                ("ended", json!(at)),
                ("reason", json!("handoff")),
                ("version", json!(2)),
                ("principal", json!("local")),
            ],
        )?;
    }
    for n in 0..HANDOFFS {
        let at = now - 1_000_000 - i64::try_from(n).unwrap_or(0);
        let summary = text(&mut dice, 300);
        characters[2] += summary.chars().count();
        row(
            "handoffs",
            &[
                ("number", json!(n + 1)),
                ("id", json!(ulid("ho_", n))),
                ("session", json!(ulid("sess_", n))),
                ("venture", json!("acme")),
                ("repo", json!("github.com/acme/app")),
                ("track", json!("")),
                ("agent", json!(format!("agent {n}"))),
                ("machine", json!(null)),
                ("summary", json!(summary)),
                ("status", json!("in_progress")),
                ("issue", json!(null)),
                ("anchor", json!(null)),
                ("payload", json!(null)),
                ("at", json!(at)),
            ],
        )?;
    }
    for n in 0..notes {
        let (title, content) = (text(&mut dice, 5), {
            let words = 30 + dice.below(100);
            text(&mut dice, words)
        });
        characters[1] += title.chars().count() + content.chars().count();
        let venture = match n % 10 {
            0 => Some("acme".to_owned()),
            1 => None,
            other => Some(format!("v{other}")),
        };
        let at = now - i64::try_from(notes - n).unwrap_or(0) * 1_000;
        row(
            "notes",
            &[
                ("number", json!(n + 1)),
                ("id", json!(ulid("note_", n))),
                ("place", json!(n + 1)),
                ("venture", json!(venture)),
                ("title", json!(title)),
                ("tags", json!("[]")),
                ("version", json!(1)),
                ("archived", json!(0)),
                ("created", json!(at)),
                ("updated", json!(at)),
                ("principal", json!("local")),
                ("characters", json!(content.chars().count())),
                ("content", json!(content)),
            ],
        )?;
    }
    for n in 0..DOCUMENTS {
        let (sha256, content) = &documents[n % TEXTS];
        characters[0] += content.chars().count();
        let scope = if n < DOCUMENTS * 3 / 5 { "acme" } else { "global" };
        row(
            "documents",
            &[
                ("scope", json!(scope)),
                ("name", json!(format!("d{n:04}.md"))),
                ("title", json!(format!("Document {n}"))),
                ("version", json!(1)),
                ("origin", json!("written")),
                ("sha256", json!(sha256)),
                ("updated", json!(now)),
                ("sources", json!("[]")),
                ("content", json!(content)),
            ],
        )?;
    }
    out.flush().map_err(io)?;
    let digest = sha256(|into| std::io::copy(&mut File::open(&rows)?, into).map(|_| ()))?;
    let mut whole = BufWriter::new(File::create(path).map_err(io)?);
    // In the order of an export, which `json!` would not keep.
    writeln!(
        whole,
        r#"{{"gatewright":"store","format":1,"schema":2,"made":"2026-11-22T00:00:00.000Z","from":"sqlite"}}"#
    )
    .map_err(io)?;
    std::io::copy(&mut File::open(&rows).map_err(io)?, &mut whole).map_err(io)?;
    let counts = format!(
        r#"{{"runs":0,"tests":0,"failures":0,"lines":0,"sessions":{HANDOFFS},"handoffs":{HANDOFFS},"checkpoints":0,"notes":{notes},"documents":{DOCUMENTS},"machines":0,"idempotency":0}}"#
    );
    writeln!(whole, r#"{{"end":{counts},"sha256":"{digest}"}}"#).map_err(io)?;
    whole.flush().map_err(io)?;
    std::fs::remove_file(&rows).map_err(io)?;
    Ok(Data { file: path.to_owned(), characters })
}
