//! What is wrong with the types of packages: `types package.tgz …` prints, for each, the problems as are-the-types-wrong
//! writes them, the kinds that are undecided, and the files that could not be read.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example reads its files itself")]

use std::collections::BTreeMap;
use std::io::Read;

use gatewright_packaging::Packed;
use gatewright_packaging::npm::types::{Format, ModuleKind, Problem, Reason, ResolutionKind, analyze};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out: BTreeMap<String, Value> = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let packed = unpack(&std::fs::read(&path)?)?;
        let started = std::time::Instant::now();
        let mut value = report(&packed);
        value["milliseconds"] = json!(started.elapsed().as_millis());
        out.insert(path, value);
    }
    println!("{}", serde_json::to_string(&out)?);
    Ok(())
}

fn unpack(bytes: &[u8]) -> std::io::Result<Packed> {
    let mut packed = Packed::new();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path()?.to_string_lossy().into_owned();
        // The first component is `package`, or whatever packed it chose.
        let Some((_, path)) = path.split_once('/') else { continue };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        packed.put(path, &bytes, false);
    }
    Ok(packed)
}

fn report(packed: &Packed) -> Value {
    let manifest: Value =
        packed.text("package.json").and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let name = manifest["name"].as_str().unwrap_or_default().to_owned();
    let analysis = match analyze(packed) {
        Ok(analysis) => analysis,
        Err(fault) => return json!({"error": fault.to_string()}),
    };
    let place = |file: &str, at: u32| {
        let text = packed.get(file).map(String::from_utf8_lossy).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        // are-the-types-wrong counts in UTF-16.
        text.get(..at as usize).map_or(0, |before| before.encode_utf16().count())
    };
    let entries = analysis.entries.iter().map(|entry| {
        let ways = entry.resolutions.iter().map(|way| {
            let file = |target: &Option<_>| {
                target.as_ref().map(|target: &gatewright_packaging::npm::types::Target| target.file.clone())
            };
            let kinds: Vec<&str> = way
                .problems
                .iter()
                .filter_map(|index| analysis.problems.get(*index))
                .map(Problem::kind)
                .collect();
            (
                way.kind.name().to_owned(),
                json!({"types": file(&way.types), "impl": file(&way.implementation), "problems": kinds}),
            )
        });
        (entry.subpath.clone(), Value::Object(ways.collect()))
    });
    json!({
        "types": analysis.has_types,
        "problems": analysis.problems.iter().map(|problem| written(&name, problem, &place)).collect::<Vec<_>>(),
        "entrypoints": entries.collect::<serde_json::Map<_, _>>(),
        "undecided": analysis.undecided,
        "unread": analysis.unread.iter().map(|(file, why)| json!([file, why.to_string()])).collect::<Vec<_>>(),
    })
}

fn written(name: &str, problem: &Problem, place: &dyn Fn(&str, u32) -> usize) -> Value {
    let path = |file: &str| format!("/node_modules/{name}/{file}");
    let format = |format: Format| if format == Format::Esm { 99 } else { 1 };
    let module = |kind: &ModuleKind| {
        let reason = match kind.reason {
            Reason::Extension => "extension",
            Reason::Type => "type",
            Reason::NoType => "no:type",
        };
        json!({"detectedKind": format(kind.format), "detectedReason": reason, "reasonFileName": path(&kind.reason_file)})
    };
    let resolved =
        |entry: &str, kind: ResolutionKind| json!({"entrypoint": entry, "resolutionKind": kind.name()});
    let mut out = match problem {
        Problem::NoResolution { entry, kind }
        | Problem::UntypedResolution { entry, kind }
        | Problem::CJSResolvesToESM { entry, kind }
        | Problem::FallbackCondition { entry, kind } => resolved(entry, *kind),
        Problem::FalseESM { types, implementation, types_kind, implementation_kind }
        | Problem::FalseCJS { types, implementation, types_kind, implementation_kind } => json!({
            "typesFileName": path(types),
            "implementationFileName": path(implementation),
            "typesModuleKind": module(types_kind),
            "implementationModuleKind": module(implementation_kind),
        }),
        Problem::InternalResolutionError { option, file, specifier, span, mode } => {
            let mut out = json!({
                "resolutionOption": option.name(),
                "fileName": path(file),
                "moduleSpecifier": specifier,
                "end": place(file, span.1),
            });
            if let Some(mode) = mode {
                out["resolutionMode"] = json!(format(*mode));
            }
            out
        }
        Problem::UnexpectedModuleSyntax { file, kind, syntax, span } => json!({
            "fileName": path(file),
            "moduleKind": module(kind),
            "syntax": format(*syntax),
            "end": place(file, span.1),
        }),
        Problem::CJSOnlyExportsDefault { file, span, .. } => {
            json!({"fileName": path(file), "end": place(file, span.1)})
        }
        Problem::FalseExportDefault { types, implementation }
        | Problem::MissingExportEquals { types, implementation }
        | Problem::NamedExports { types, implementation, .. } => {
            json!({"typesFileName": path(types), "implementationFileName": path(implementation)})
        }
    };
    out["kind"] = json!(problem.kind());
    out
}
