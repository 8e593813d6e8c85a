//! Types as are-the-types-wrong sees them: its answers to packages made to show one rule each.

use std::collections::BTreeMap;

use gatewright_packaging::Packed;
use gatewright_packaging::npm::types::{
    Analysis, EntryOptions, Format, ModuleKind, Problem, Reason, ResolutionKind, analyze_entries,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The kinds that need TypeScript's checker, so that they are not always decided.
const CHECKED: [&str; 3] = ["FalseExportDefault", "MissingExportEquals", "NamedExports"];

#[derive(Deserialize)]
struct Case {
    title: String,
    name: String,
    #[serde(default)]
    options: Options,
    files: BTreeMap<String, String>,
    types: Value,
    entrypoints: BTreeMap<String, BTreeMap<String, Value>>,
    problems: Vec<Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Options {
    entrypoints: Vec<String>,
    include_entrypoints: Vec<String>,
    exclude_entrypoints: Vec<String>,
}

fn module(name: &str, kind: &ModuleKind) -> Value {
    let detected = if kind.format == Format::Esm { 99 } else { 1 };
    let reason = match kind.reason {
        Reason::Extension => "extension",
        Reason::Type => "type",
        Reason::NoType => "no:type",
    };
    let file = format!("/node_modules/{name}/{}", kind.reason_file);
    json!({"detectedKind": detected, "detectedReason": reason, "reasonFileName": file})
}

/// A problem as the reference writes it, save for places in files.
fn written(name: &str, problem: &Problem) -> Value {
    let path = |file: &str| format!("/node_modules/{name}/{file}");
    let format = |format: Format| if format == Format::Esm { 99 } else { 1 };
    let mut out = match problem {
        Problem::NoResolution { entry, kind }
        | Problem::UntypedResolution { entry, kind }
        | Problem::CJSResolvesToESM { entry, kind }
        | Problem::FallbackCondition { entry, kind } => {
            json!({"entrypoint": entry, "resolutionKind": kind.name()})
        }
        Problem::FalseESM { types, implementation, types_kind, implementation_kind }
        | Problem::FalseCJS { types, implementation, types_kind, implementation_kind } => json!({
            "typesFileName": path(types),
            "implementationFileName": path(implementation),
            "typesModuleKind": module(name, types_kind),
            "implementationModuleKind": module(name, implementation_kind),
        }),
        Problem::InternalResolutionError { option, file, specifier, span, mode } => {
            let mut out = json!({
                "resolutionOption": option.name(),
                "fileName": path(file),
                "moduleSpecifier": specifier,
                "end": span.1,
            });
            if let Some(mode) = mode {
                out["resolutionMode"] = json!(format(*mode));
            }
            out
        }
        Problem::UnexpectedModuleSyntax { file, kind, syntax, span } => json!({
            "fileName": path(file),
            "moduleKind": module(name, kind),
            "syntax": format(*syntax),
            "end": span.1,
        }),
        Problem::CJSOnlyExportsDefault { file, span, .. } => json!({"fileName": path(file), "end": span.1}),
        Problem::FalseExportDefault { types, implementation }
        | Problem::MissingExportEquals { types, implementation }
        | Problem::NamedExports { types, implementation, .. } => {
            json!({"typesFileName": path(types), "implementationFileName": path(implementation)})
        }
    };
    out["kind"] = json!(problem.kind());
    out
}

fn analysis(case: &Case) -> Analysis {
    let mut packed = Packed::new();
    for (path, text) in &case.files {
        packed.put(path, text.as_bytes(), false);
    }
    let options = EntryOptions {
        only: case.options.entrypoints.clone(),
        include: case.options.include_entrypoints.clone(),
        exclude: case.options.exclude_entrypoints.clone(),
    };
    analyze_entries(&packed, &options).unwrap()
}

/// Whether a problem of the reference's may be missing here: its kind was said to be undecided.
fn excused(analysis: &Analysis, kind: &str) -> bool {
    CHECKED.contains(&kind) && analysis.undecided.contains(&kind)
}

#[test]
fn every_case_has_the_entry_points_resolutions_and_problems_of_the_reference() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/attw.json")).unwrap();
    assert_eq!(cases.len(), 80);
    let mut differences = Vec::new();
    for case in &cases {
        let analysis = analysis(case);
        let problems = |indices: &[usize]| {
            let mut kinds: Vec<&str> = indices.iter().map(|index| analysis.problems[*index].kind()).collect();
            kinds.sort_unstable();
            kinds
        };
        let entries: BTreeMap<&str, BTreeMap<&str, Value>> = analysis
            .entries
            .iter()
            .map(|entry| {
                let kinds = ResolutionKind::ALL.iter().enumerate().map(|(place, kind)| {
                    let value = match entry.resolutions.get(place) {
                        None => json!("wildcard"),
                        Some(way) => json!({
                            "types": way.types.as_ref().map(|target| &target.file),
                            "impl": way.implementation.as_ref().map(|target| &target.file),
                            "problems": problems(&way.problems),
                        }),
                    };
                    (kind.name(), value)
                });
                (entry.subpath.as_str(), kinds.collect())
            })
            .collect();
        let expected: BTreeMap<&str, BTreeMap<&str, Value>> = case
            .entrypoints
            .iter()
            .map(|(subpath, kinds)| {
                let kinds = kinds.iter().map(|(kind, value)| {
                    let mut value = value.clone();
                    if let Some(problems) = value.get_mut("problems").and_then(Value::as_array_mut) {
                        problems.retain(|kind| !excused(&analysis, kind.as_str().unwrap()));
                        problems.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
                    }
                    (kind.as_str(), value)
                });
                (subpath.as_str(), kinds.collect())
            })
            .collect();
        if entries != expected {
            differences.push(format!("{}: {entries:#?}\ninstead of {expected:#?}", case.title));
        }
        let found: Vec<Value> =
            analysis.problems.iter().map(|problem| written(&case.name, problem)).collect();
        let mut wanted = case.problems.clone();
        wanted.retain(|problem| !excused(&analysis, problem["kind"].as_str().unwrap()));
        for problem in &mut wanted {
            problem
                .as_object_mut()
                .unwrap()
                .retain(|key, _| !matches!(key.as_str(), "pos" | "missing" | "isMissingAllNamed"));
        }
        if found != wanted {
            differences.push(format!("{}: {found:#?}\ninstead of {wanted:#?}", case.title));
        }
        if analysis.has_types != (case.types == "included") {
            differences.push(format!("{}: has types: {}", case.title, analysis.has_types));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn places_are_those_of_the_reference() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/attw.json")).unwrap();
    let mut seen = 0;
    for case in &cases {
        let places = |problem: &Problem| match problem {
            Problem::InternalResolutionError { span, file, .. }
            | Problem::UnexpectedModuleSyntax { span, file, .. }
            | Problem::CJSOnlyExportsDefault { span, file, .. } => {
                Some((problem.kind(), file.clone(), *span))
            }
            _ => None,
        };
        let found: Vec<_> = analysis(case).problems.iter().filter_map(places).collect();
        let wanted = case.problems.iter().filter(|problem| problem.get("pos").is_some());
        for (wanted, (kind, file, span)) in wanted.zip(found) {
            let end = wanted["end"].as_u64().unwrap();
            let text = &case.files[&file];
            let start = usize::try_from(wanted["pos"].as_u64().unwrap()).unwrap();
            assert_eq!((wanted["kind"].as_str().unwrap(), end), (kind, u64::from(span.1)), "{}", case.title);
            // The reference counts the white space in front of a specifier.
            assert!(text[start..span.0 as usize].trim().is_empty(), "{}: {}", case.title, &text[start..]);
            seen += 1;
        }
    }
    assert_eq!(seen, 23);
}
