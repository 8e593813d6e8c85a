//! A packed npm package tried out: imported from its own archive in a confined run without network.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use contract::{Code, Fault, RelPath};
use exec::Workshop;
use exec::run::{Command, INPUT};
use kit::ReadDesk;
use packaging::npm::manifest::Manifest;
use packaging::{Check, Packed, Severity};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const SCRIPT: &str = include_str!("smoke.mjs");

/// How long all imports of a package may take together.
const TIME: Duration = Duration::from_secs(30);

/// Most entry points that are tried.
const MAX_ENTRIES: usize = 60;

/// What only browsers have: a package that wants it is none that Node imports.
const OF_BROWSERS: [&str; 8] =
    ["document", "window", "self", "navigator", "HTMLElement", "customElements", "CSSStyleSheet", "location"];

const ID: &str = "npm.smoke";

/// Where the script writes how each import ended, below the package.
const TOLD: &str = "node_modules/.gatewright-smoke/told";

/// How an import ended.
#[derive(Debug, Deserialize)]
struct Told {
    specifier: String,
    way: String,
    ok: bool,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    message: String,
}

/// Imports everything that `packed` offers.
pub(crate) async fn check(
    desk: &ReadDesk,
    workshop: &Arc<Workshop>,
    folder: &str,
    manifest: &Manifest,
    packed: &Packed,
) -> Result<Check, Fault> {
    let entries = entries(manifest, packed);
    if entries.is_empty() {
        return Ok(Check::passed(ID, "there is nothing that Node could import"));
    }
    // A mark that what is imported cannot know, so that what it prints is not taken for our words.
    let mark = contract::TranscriptId::random().map_err(|e| Fault::internal(e.to_string()))?.to_string();
    let files: Map<String, Value> = packed
        .iter()
        .map(|(path, file)| (path.to_owned(), Value::String(BASE64_STANDARD.encode(&file.bytes))))
        .collect();
    let asked = json!({ "name": manifest.name(), "files": files, "entries": entries, "mark": mark });
    let mut command = Command::new("node", &[]);
    command.args = vec![format!("{INPUT}smoke.mjs"), format!("{INPUT}asked.json")];
    command.inputs.insert("smoke.mjs".to_owned(), SCRIPT.as_bytes().to_vec());
    command.inputs.insert("asked.json".to_owned(), asked.to_string().into_bytes());
    command.timeout = TIME;
    if !folder.is_empty() {
        command.dir = Some(RelPath::new(folder).map_err(|e| Fault::invalid(e.to_string()))?);
    }
    let (stderr, is_late) = match desk.run_in(workshop, command).await {
        Ok(ran) => (ran.stderr.text(), false),
        // A package that hangs is what is to be found out.
        Err(fault) if fault.code == Code::Timeout => (String::new(), true),
        Err(fault) => return Err(fault),
    };
    let told = told(workshop, folder, &mark)?;
    Ok(judge(&told, entries.len(), &stderr, is_late))
}

/// What the script has written of how imports ended. It stands in a file: packages print what they like, and as much.
fn told(workshop: &Workshop, folder: &str, mark: &str) -> Result<Vec<Told>, Fault> {
    let at = if folder.is_empty() { TOLD.to_owned() } else { format!("{folder}/{TOLD}") };
    let path = RelPath::new(&at).map_err(|e| Fault::internal(e.to_string()))?;
    let said = match workshop.read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(fault) if fault.code == Code::NotFound => String::new(),
        Err(fault) => return Err(fault),
    };
    Ok(said
        .lines()
        .filter_map(|line| line.strip_prefix(mark))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

fn judge(told: &[Told], asked: usize, stderr: &str, is_late: bool) -> Check {
    let failed: Vec<&Told> = told.iter().filter(|t| !t.ok).collect();
    if told.len() < asked {
        let last = told.last().map_or("the beginning", |t| t.specifier.as_str());
        if is_late {
            return Check::failed(
                ID,
                Severity::Error,
                format!("after {last} an import did not end within {} s", TIME.as_secs()),
            )
            .fix("A package that is imported must not wait for anything: do that in a function that is called.");
        }
        let why = stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it ended Node without a word");
        let why: String = why.chars().take(200).collect();
        return Check::failed(
            ID,
            Severity::Error,
            format!("Node ended after {last}, before everything was imported: {why}"),
        )
        .fix("A package that is imported must not end the program that imports it.");
    }
    let Some(first) = failed.first() else {
        return Check::passed(ID, format!("{asked} imports from the archive work"));
    };
    let wants_browser = failed.iter().all(|t| {
        t.kind == "ReferenceError"
            && OF_BROWSERS.iter().any(|name| t.message.starts_with(&format!("{name} is not defined")))
    });
    let how = if first.way == "require" { "require" } else { "import" };
    let message = first.message.lines().next().unwrap_or_default();
    let detail = format!("{} of {asked} imports fail: {how}({:?}): {message}", failed.len(), first.specifier);
    if wants_browser {
        return Check::failed(ID, Severity::Note, detail).fix(
            "It wants a browser as soon as it is imported: servers that render pages cannot import it.",
        );
    }
    Check::failed(ID, Severity::Error, detail)
        .fix("Import the packed archive in an empty project and mend what is missing: a file that is not packed, or a dependency that is not named.")
}

/// What can be imported, and how: every entry point that leads to JavaScript.
fn entries(manifest: &Manifest, packed: &Packed) -> Vec<Value> {
    let name = manifest.name();
    let mut found = Vec::new();
    let mut add = |path: &str, target: &Value, is_module: bool| {
        let specifier = match path.strip_prefix("./") {
            None => name.to_owned(),
            Some(rest) => format!("{name}/{rest}"),
        };
        for way in ["import", "require"] {
            if let Some(file) = leads(target, way)
                && is_script(&file)
                && packed.has(file.trim_start_matches("./"))
                && (way == "import" || can_require(&file, is_module))
            {
                found.push(json!({ "specifier": specifier, "way": way }));
            }
        }
    };
    let is_module = manifest.text("type") == Some("module");
    match manifest.get("exports") {
        Some(Value::Object(map)) if map.keys().any(|key| key.starts_with('.')) => {
            for (path, target) in map {
                if !path.contains('*') && !path.ends_with('/') {
                    add(path, target, is_module);
                }
            }
        }
        Some(target) if !target.is_null() => add(".", target, is_module),
        _ => {
            let main = manifest.text("main").unwrap_or("index.js").trim_start_matches("./").to_owned();
            let file =
                [main.clone(), format!("{main}.js"), format!("{}/index.js", main.trim_end_matches('/'))]
                    .into_iter()
                    .find(|file| packed.has(file));
            if let Some(file) = file {
                add(".", &Value::String(file), is_module);
            }
        }
    }
    found.truncate(MAX_ENTRIES);
    found
}

fn is_script(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "js" | "mjs" | "cjs"))
}

/// Whether `require` is promised: of a module it is only since Node 22.
fn can_require(file: &str, is_module: bool) -> bool {
    match file.rsplit_once('.') {
        Some((_, "cjs")) => true,
        Some((_, "js")) => !is_module,
        _ => false,
    }
}

/// The file that Node's conditions lead to.
fn leads(target: &Value, way: &str) -> Option<String> {
    match target {
        Value::String(file) => Some(file.clone()),
        Value::Array(targets) => targets.iter().find_map(|target| leads(target, way)),
        Value::Object(conditions) => conditions
            .iter()
            .filter(|(condition, _)| matches!(condition.as_str(), "node" | "default") || *condition == way)
            .find_map(|(_, target)| leads(target, way)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(manifest: Value, files: &[&str]) -> Vec<String> {
        let manifest = Manifest::read(manifest.to_string().as_bytes()).unwrap();
        let packed = files.iter().fold(Packed::new(), |packed, file| packed.with(file, ""));
        entries(&manifest, &packed)
            .iter()
            .map(|e| format!("{} {}", e["way"].as_str().unwrap(), e["specifier"].as_str().unwrap()))
            .collect()
    }

    #[test]
    fn every_entry_point_that_node_could_load_is_tried_in_the_ways_that_it_offers() {
        let manifest = json!({ "name": "@a/b", "type": "module", "exports": {
            ".": { "types": "./i.d.ts", "import": "./i.js", "require": "./i.cjs" },
            "./style.css": "./s.css", "./x/*": "./x/*.js", "./only": { "browser": "./o.js" }, "./gone": "./gone.js",
        }});
        let files = ["i.js", "i.cjs", "s.css", "o.js", "x/a.js"];
        assert_eq!(tried(manifest, &files), ["import @a/b", "require @a/b"]);
        assert_eq!(
            tried(json!({ "name": "c", "main": "lib" }), &["lib/index.js"]),
            ["import c", "require c"]
        );
        assert_eq!(tried(json!({ "name": "c", "type": "module" }), &["index.js"]), ["import c"]);
        assert_eq!(tried(json!({ "name": "c" }), &["style.css"]), Vec::<String>::new());
    }

    #[test]
    fn what_ends_node_and_what_wants_a_browser_is_told_apart() {
        let told = |ok, kind: &str, message: &str| Told {
            specifier: "x".into(),
            way: "import".into(),
            ok,
            kind: kind.into(),
            message: message.into(),
        };
        assert!(judge(&[told(true, "", "")], 1, "", false).passed);
        assert_eq!(judge(&[], 1, "boom", false).severity, Severity::Error);
        assert!(judge(&[], 1, "", true).detail.contains("did not end"));
        assert!(
            judge(&[told(true, "", "")], 1, "", true).passed,
            "what runs on after its import is left alone"
        );
        let browser = judge(&[told(false, "ReferenceError", "document is not defined")], 1, "", false);
        assert_eq!((browser.passed, browser.severity), (false, Severity::Note));
        let broken = judge(&[told(false, "Error", "Cannot find module './x'")], 1, "", false);
        assert_eq!((broken.passed, broken.severity), (false, Severity::Error));
    }
}
