//! Istanbul's `coverage-summary.json`: what jest, vitest and nyc write for programs (reporter `json-summary`).

use serde::Deserialize;
use serde_json::Value;

use crate::report::{MAX_FIGURES, MAX_NAME};
use crate::text::clip;
use crate::{Context, Coverage, Covered};

#[derive(Deserialize)]
struct Part {
    lines: Figure,
}

#[derive(Deserialize)]
struct Figure {
    /// A number, or `"Unknown"` where there is no line.
    pct: Value,
}

/// The coverage of lines that such a file tells: of all, and by file, in the order of their names. Nothing where it is none.
pub fn coverage_summary(bytes: &[u8], context: &Context<'_>) -> Option<Coverage> {
    let Value::Object(files) = serde_json::from_slice(bytes).ok()? else { return None };
    let percent = |value: &Value| {
        let part = Part::deserialize(value).ok()?;
        part.lines.pct.as_f64().filter(|percent| percent.is_finite())
    };
    let total = files.get("total")?;
    let mut parts: Vec<Covered> = files
        .iter()
        .filter(|(name, _)| *name != "total")
        .filter_map(|(name, part)| {
            let name = clip(&context.place(name).file, MAX_NAME);
            Some(Covered { name, percent: percent(part)? })
        })
        .collect();
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    parts.truncate(MAX_FIGURES);
    Some(Coverage { percent: percent(total), parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_of_all_and_of_each_file() {
        let text = r#"{"total":{"lines":{"total":4,"covered":3,"skipped":0,"pct":75}},
            "/srv/shop/web/src/b.js":{"lines":{"pct":50}},"/srv/shop/web/src/a.js":{"lines":{"pct":100}},
            "/srv/shop/web/src/none.js":{"lines":{"pct":"Unknown"}}}"#;
        let context = Context { root: "/srv/shop", dir: "web", ..Context::default() };
        let told = coverage_summary(text.as_bytes(), &context).unwrap();
        assert_eq!(told.percent, Some(75.0));
        let parts: Vec<_> = told.parts.iter().map(|part| (part.name.as_str(), part.percent)).collect();
        assert_eq!(parts, [("web/src/a.js", 100.0), ("web/src/b.js", 50.0)]);
    }

    #[test]
    fn what_is_no_summary_tells_nothing() {
        for text in ["", "[]", "{}", "{\"total\":{}", "nonsense"] {
            assert_eq!(coverage_summary(text.as_bytes(), &Context::default()), None, "{text}");
        }
        let none = r#"{"total":{"lines":{"pct":"Unknown"}}}"#;
        assert_eq!(coverage_summary(none.as_bytes(), &Context::default()), Some(Coverage::default()));
    }
}
