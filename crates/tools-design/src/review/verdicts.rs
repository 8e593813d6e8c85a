//! What is made of everything that a kit shows.

use contract::text::counted;
use kits::{Finding, Gallery, Judgement, Pictures, Tokens, Verdict};

fn verdict(name: &str, verdict: Judgement, detail: String) -> Verdict {
    Verdict { name: name.to_owned(), verdict, detail }
}

/// All verdicts, the worst first.
pub(crate) fn of(tokens: Option<&Tokens>, gallery: Option<&Gallery>) -> Vec<Verdict> {
    let mut all = Vec::new();
    if let Some(tokens) = tokens {
        all.push(changed(tokens));
        all.extend(contrast(tokens));
    }
    if let Some(gallery) = gallery {
        all.extend(pictures(gallery));
        all.extend(findings(gallery));
    }
    all.sort_by_key(|v| v.verdict);
    all
}

/// The verdict of a part that cannot be read at all.
pub(crate) fn broken(name: &str, why: String) -> Verdict {
    verdict(name, Judgement::Fail, why)
}

fn changed(tokens: &Tokens) -> Verdict {
    let gone = tokens.removed.len() + tokens.renamed.len();
    let used = tokens.removed.iter().chain(&tokens.renamed).filter(|row| !row.used_in.is_empty()).count();
    let other = tokens.changed.len();
    let (judgement, detail) = if used > 0 {
        (
            Judgement::Fail,
            format!(
                "{} gone or renamed, and still used in this repository by its old name",
                counted(used, "token")
            ),
        )
    } else if gone > 0 {
        (Judgement::Warn, format!("{} gone or renamed: a major release", counted(gone, "token")))
    } else if other > 0 {
        (Judgement::Warn, format!("{} with other values", counted(other, "token")))
    } else if !tokens.added.is_empty() {
        (Judgement::Pass, format!("{} added, nothing else changed", counted(tokens.added.len(), "token")))
    } else {
        (Judgement::Pass, "no token changed".to_owned())
    };
    verdict("Tokens", judgement, detail)
}

fn contrast(tokens: &Tokens) -> Option<Verdict> {
    let misses = |ratio: f64, required: f64| ratio < required;
    let short: Vec<_> = tokens.contrast.iter().filter(|row| misses(row.ratio, row.required)).collect();
    let newly =
        short.iter().filter(|row| row.before.is_some_and(|before| !misses(before, row.required))).count();
    let worst = short.iter().min_by(|a, b| (a.ratio / a.required).total_cmp(&(b.ratio / b.required)));
    Some(match (tokens.contrast.len(), worst) {
        (0, _) => return None,
        (all, None) => {
            verdict("Contrast", Judgement::Pass, format!("{} with enough contrast", counted(all, "pair")))
        }
        (all, Some(worst)) => {
            let judgement = if newly > 0 { Judgement::Fail } else { Judgement::Warn };
            let since =
                if newly > 0 { format!(", {newly} of them since this change") } else { String::new() };
            let detail = format!(
                "{} of {all} pairs fall short{since}; the worst is {} on {} ({}): {} of {}",
                short.len(),
                worst.foreground,
                worst.background,
                worst.mode,
                worst.ratio,
                worst.required
            );
            verdict("Contrast", judgement, detail)
        }
    })
}

fn pictures(gallery: &Gallery) -> Option<Verdict> {
    let examples = gallery.components.iter().flat_map(|c| &c.examples);
    let all: Vec<_> = examples.filter(|example| !example.pictures.is_empty()).collect();
    if all.is_empty() {
        return None;
    }
    let changed =
        all.iter().filter(|e| e.pictures.iter().any(|p| p.before.is_some() && p.pixels > 0)).count();
    let of = |which: fn(&Pictures) -> bool| all.iter().filter(|e| e.pictures.iter().all(which)).count();
    let new = of(|p| p.is_new);
    let gone = of(|p| p.after.is_none());
    let alone = of(|p| p.before.is_none() && !p.is_new);
    let same = all.len() - changed - new - gone - alone;
    let said = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let parts: Vec<String> = [
        said(changed, "look different"),
        said(gone, "gone"),
        said(new, "new"),
        said(same, "as before"),
        said(alone, "with nothing to compare with"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let judgement = if changed + gone > 0 { Judgement::Warn } else { Judgement::Pass };
    Some(verdict(
        "Pictures",
        judgement,
        format!("of {}: {}", counted(all.len(), "example"), parts.join(", ")),
    ))
}

fn findings(gallery: &Gallery) -> Option<Verdict> {
    let looked: Vec<_> =
        gallery.components.iter().flat_map(|c| &c.examples).filter_map(|e| e.findings.as_ref()).collect();
    if looked.is_empty() {
        return None;
    }
    let all: Vec<&Finding> = looked.iter().flat_map(|found| found.iter()).collect();
    let fresh: Vec<&&Finding> = all.iter().filter(|f| f.is_old != Some(true)).collect();
    let grave = fresh.iter().filter(|f| matches!(f.impact.as_str(), "serious" | "critical")).count();
    let examples = counted(looked.len(), "example");
    Some(match (grave, fresh.len(), all.len()) {
        (0, 0, 0) => verdict("Accessibility", Judgement::Pass, format!("nothing found in {examples}")),
        (0, 0, old) => verdict(
            "Accessibility",
            Judgement::Warn,
            format!("nothing new in {examples}; {old} that were there before"),
        ),
        (0, new, _) => verdict(
            "Accessibility",
            Judgement::Warn,
            format!("{new} of minor or moderate impact in {examples}"),
        ),
        (grave, ..) => verdict(
            "Accessibility",
            Judgement::Fail,
            format!("{grave} of serious or critical impact in {examples}"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kits::{Component, ContrastRow, Example, Picture, TokenRow};

    fn judged(tokens: &Tokens) -> Vec<(String, Judgement)> {
        of(Some(tokens), None).into_iter().map(|v| (v.name, v.verdict)).collect()
    }

    #[test]
    fn tokens_that_are_gone_and_still_used_fail() {
        let row = |used: bool| TokenRow {
            used_in: if used { vec!["a.css:1".into()] } else { Vec::new() },
            ..TokenRow::default()
        };
        let tokens = |tokens| judged(&tokens)[0].1;
        assert_eq!(tokens(Tokens::default()), Judgement::Pass);
        assert_eq!(tokens(Tokens { added: vec![row(false)], ..Tokens::default() }), Judgement::Pass);
        assert_eq!(tokens(Tokens { changed: vec![row(true)], ..Tokens::default() }), Judgement::Warn);
        assert_eq!(tokens(Tokens { removed: vec![row(false)], ..Tokens::default() }), Judgement::Warn);
        assert_eq!(tokens(Tokens { renamed: vec![row(true)], ..Tokens::default() }), Judgement::Fail);
    }

    #[test]
    fn contrast_that_this_change_took_away_fails_and_comes_first() {
        let row = |ratio, before| ContrastRow {
            foreground: "f".into(),
            background: "b".into(),
            mode: "default".into(),
            colors: ("#000".into(), "#fff".into()),
            ratio,
            before,
            required: 4.5,
        };
        let of = |row| judged(&Tokens { contrast: vec![row], ..Tokens::default() });
        assert_eq!(of(row(3.0, Some(5.0)))[0], ("Contrast".to_owned(), Judgement::Fail));
        assert_eq!(of(row(3.0, None))[0], ("Contrast".to_owned(), Judgement::Warn));
        assert_eq!(of(row(4.5, None)).last().unwrap().1, Judgement::Pass);
    }

    #[test]
    fn what_is_new_gone_or_alone_is_not_taken_for_each_other() {
        let (some, none) = (Some(Picture::default()), None);
        let example = |before: &Option<Picture>, after: &Option<Picture>, is_new| Example {
            pictures: vec![Pictures {
                before: before.clone(),
                after: after.clone(),
                is_new,
                ..Pictures::default()
            }],
            ..Example::default()
        };
        let of = |examples: Vec<Example>| {
            let components = vec![Component { name: "c".into(), examples }];
            pictures(&Gallery { components, ..Gallery::default() }).unwrap()
        };
        let all = of(vec![
            example(&none, &some, true),
            example(&some, &none, false),
            example(&none, &some, false),
            example(&some, &some, false),
        ]);
        assert_eq!(all.detail, "of 4 examples: 1 gone, 1 new, 1 as before, 1 with nothing to compare with");
        assert_eq!(all.verdict, Judgement::Warn);
        assert_eq!(of(vec![example(&none, &some, false)]).verdict, Judgement::Pass);
    }

    #[test]
    fn new_findings_weigh_and_old_ones_are_said() {
        let gallery = |impact: &str, is_old, pixels| Gallery {
            components: vec![Component {
                name: "c".into(),
                examples: vec![Example {
                    findings: Some(vec![Finding { impact: impact.into(), is_old, ..Finding::default() }]),
                    pictures: vec![Pictures {
                        before: Some(Picture::default()),
                        after: Some(Picture::default()),
                        pixels,
                        ..Pictures::default()
                    }],
                    ..Example::default()
                }],
            }],
            ..Gallery::default()
        };
        let judged =
            |g: Gallery| of(None, Some(&g)).into_iter().map(|v| (v.name, v.verdict)).collect::<Vec<_>>();
        assert_eq!(judged(gallery("critical", Some(false), 0))[0], ("Accessibility".into(), Judgement::Fail));
        assert_eq!(judged(gallery("critical", Some(true), 0))[0].1, Judgement::Warn);
        assert_eq!(
            judged(gallery("minor", None, 3)),
            [("Pictures".into(), Judgement::Warn), ("Accessibility".into(), Judgement::Warn)]
        );
    }
}
