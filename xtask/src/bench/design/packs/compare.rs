//! What two sides say of a package, brought into one form.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::archives::Package;
use super::exact::Exact;
use crate::bench::design::known::Known;

/// What the programs themselves said.
#[derive(Debug)]
pub(super) struct Said {
    /// The tool's result, or why there is none.
    pub(super) ours: Result<Value, String>,
    /// What `npm pack --json` printed.
    pub(super) listed: Value,
    /// What `attw --format json` printed.
    pub(super) attw: Value,
}

impl Default for Said {
    fn default() -> Self {
        Self { ours: Err("it was not asked".to_owned()), listed: Value::Null, attw: Value::Null }
    }
}

/// What is compared, in this order.
const AREAS: [(&str, &str); 5] = [
    ("files", "files: our list, and npm's"),
    ("publint", "publint: code, type, path and all arguments; our library"),
    ("publint-tool", "publint: code and type; the tool's checks"),
    ("attw", "attw: kind and all arguments; our library"),
    ("attw-tool", "attw: kind, entry point, resolution or files; the tool's checks"),
];

/// How many there are of each.
type Counted = BTreeMap<String, u64>;

/// One package, compared.
pub(super) struct Compared {
    /// Ours, theirs and both, by area.
    counts: [[u64; 3]; AREAS.len()],
    same: [bool; AREAS.len()],
    /// Area, text, and why where that is known.
    differences: Vec<(usize, String, Option<String>)>,
    /// What ours says that it cannot decide.
    undecided: Vec<String>,
}

fn counted(all: impl IntoIterator<Item = String>) -> Counted {
    let mut counts = Counted::new();
    all.into_iter().for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Compared {
    pub(super) fn of(package: &Package, said: &Said, exact: &Exact, known: &Known) -> Self {
        let files = |value: &Value| {
            let paths = list(value).iter().filter_map(Value::as_str);
            // As npm writes them beside its JSON: with `./` before an `@`.
            counted(paths.map(|path| path.trim_start_matches("./").to_owned()))
        };
        let mut pairs = vec![
            (files(&exact.listed), npms(&said.listed)),
            (messages(&exact.lint, true), messages(&exact.publint, true)),
        ];
        let problems = problems(&said.attw);
        let has_types = |has: bool| (!has).then(|| "it has no types".to_owned());
        let own = list(&exact.types["problems"]).iter().map(Value::to_string);
        let own = counted(own.chain(has_types(exact.types["types"] == true)));
        let theirs = problems.iter().map(|problem| same_form(problem).to_string());
        let theirs = counted(theirs.chain(has_types(said.attw["analysis"]["types"].is_object())));
        let checks = said.ours.as_ref().map_or(&[][..], |answer| list(&answer["verificationChecks"]));
        pairs.push((of_tool(checks), messages(&exact.publint, false)));
        pairs.push((own, theirs));
        pairs.push(matched(checks, &problems));
        let mut compared = Self {
            counts: [[0; 3]; AREAS.len()],
            same: [true; AREAS.len()],
            differences: Vec::new(),
            undecided: list(&exact.types["undecided"]).iter().map(Value::to_string).collect(),
        };
        for (area, (ours, theirs)) in pairs.iter().enumerate() {
            compared.area(area, ours, theirs, package, known);
        }
        if let Err(why) = &said.ours {
            compared.differ(2, format!("the tool: {why}"), package, known);
            compared.differ(4, format!("the tool: {why}"), package, known);
        }
        compared.listed(checks, package, known);
        compared
    }

    fn area(&mut self, area: usize, ours: &Counted, theirs: &Counted, package: &Package, known: &Known) {
        let sum = |counted: &Counted| counted.values().sum::<u64>();
        let both = ours.iter().map(|(what, n)| *n.min(theirs.get(what).unwrap_or(&0))).sum();
        if let Some(counts) = self.counts.get_mut(area) {
            *counts = [sum(ours), sum(theirs), both];
        }
        for (these, others, who) in [(ours, theirs, "only ours"), (theirs, ours, "only theirs")] {
            for (what, count) in these {
                for _ in *others.get(what).unwrap_or(&0)..*count {
                    self.differ(area, format!("{who}: {what}"), package, known);
                }
            }
        }
    }

    fn differ(&mut self, area: usize, text: String, package: &Package, known: &Known) {
        if let Some(same) = self.same.get_mut(area) {
            *same = false;
        }
        let name = AREAS.get(area).map_or("", |(name, _)| name);
        let why = known.why(name, &package.spec, &text).map(str::to_owned);
        self.differences.push((area, format!("{}: {text}", package.spec), why));
    }

    /// The tool compares the lists itself: it has to have found what is found here.
    fn listed(&mut self, checks: &[Value], package: &Package, known: &Known) {
        let own = checks.iter().find(|check| check["checkName"] == "npm.files.equal");
        if let Some(check) = own
            && check["passed"] != self.same[0]
        {
            self.differ(0, format!("the tool says otherwise: {}", check["details"]), package, known);
        }
    }

    /// What is the same, for a row of the table.
    pub(super) fn marks(&self) -> String {
        let mark = |area: usize| if self.same.get(area) == Some(&true) { "=" } else { "≠" };
        let both = |first: usize| format!("{}{}", mark(first), mark(first + 1));
        format!("{:>6} {:>8} {:>8}", mark(0), both(1), both(3))
    }
}

/// Prints totals and every difference; gives the number of those that nobody has explained.
pub(super) fn print(all: &[Compared]) -> usize {
    println!("\nagreement over {} packages", all.len());
    println!("{:<66} {:>6} {:>8} {:>8} {:>8}", "", "agree", "ours", "theirs", "both");
    for (area, (_, name)) in AREAS.iter().enumerate() {
        let same = all.iter().filter(|one| one.same.get(area) == Some(&true)).count();
        let mut sums = [0; 3];
        for counts in all.iter().filter_map(|one| one.counts.get(area)) {
            sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
        println!("{name:<66} {same:>6} {:>8} {:>8} {:>8}", sums[0], sums[1], sums[2]);
    }
    let undecided = counted(all.iter().flat_map(|one| one.undecided.iter().cloned()));
    for (what, packages) in undecided {
        println!("  {what} is said to be undecided of {packages} packages");
    }
    let differences: Vec<_> = all.iter().flat_map(|one| &one.differences).collect();
    let unexplained = differences.iter().filter(|(_, _, why)| why.is_none()).count();
    println!("differences: {}, of them without an explanation: {unexplained}", differences.len());
    for (area, text, why) in differences {
        let name = AREAS.get(*area).map_or("", |(name, _)| name);
        println!("  {name}: {text}\n    {}", why.as_deref().unwrap_or("NOT EXPLAINED"));
    }
    unexplained
}

/// The files of `npm pack --json`: a list of packages, of npm 12 an object of them.
fn npms(printed: &Value) -> Counted {
    let package = match printed {
        Value::Object(packages) => packages.values().next(),
        packages => packages.get(0),
    };
    let files = package.map_or(&Value::Null, |package| &package["files"]);
    counted(list(files).iter().filter_map(|file| file["path"].as_str()).map(str::to_owned))
}

/// Messages in publint's form: in full, or as far as a check tells them.
fn messages(said: &Value, full: bool) -> Counted {
    if let Some(fault) = said["fault"].as_str() {
        return counted([format!("fault: {fault}")]);
    }
    counted(list(&said["messages"]).iter().map(|message| {
        let (code, kind) = (text(&message["code"]), text(&message["type"]));
        if full {
            format!("{code} ({kind}) at {} {}", message["path"], message["args"])
        } else {
            format!("{code} ({kind})")
        }
    }))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The tool's checks that say what publint would.
fn of_tool(checks: &[Value]) -> Counted {
    counted(checks.iter().filter(|check| check["passed"] == false).filter_map(|check| {
        let code = text(&check["checkName"]).strip_prefix("npm.publint.")?;
        let kind = match text(&check["severity"]) {
            "note" => "suggestion",
            other => other,
        };
        Some(format!("{code} ({kind})"))
    }))
}

/// The problems that attw printed, in one list: its command groups them.
fn problems(printed: &Value) -> Vec<Value> {
    list(&printed["analysis"]["problems"]).to_vec()
}

/// A problem with what ours tells of it: places by their end, no traces of resolutions.
fn same_form(problem: &Value) -> Value {
    let mut out = Map::new();
    for (name, value) in problem.as_object().into_iter().flatten() {
        match name.as_str() {
            "trace" | "pos" | "missing" | "isMissingAllNamed" => {}
            "range" => {
                out.insert("end".to_owned(), value["end"].clone());
            }
            _ if name.ends_with("oduleKind") => {
                let fields = ["detectedKind", "detectedReason", "reasonFileName"];
                out.insert(
                    name.clone(),
                    fields.iter().map(|f| ((*f).to_owned(), value[f].clone())).collect(),
                );
            }
            _ => {
                out.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(out)
}

/// Checks of the tool against problems, matched as far as the checks tell: by their kind, and by entry point and resolution
/// in their sentence, or by the files that they are about.
fn matched(checks: &[Value], problems: &[Value]) -> (Counted, Counted) {
    let own = checks.iter().filter(|check| check["passed"] == false);
    let mut left: Vec<&Value> =
        own.filter(|check| text(&check["checkName"]).starts_with("npm.types.")).collect();
    let (mut ours, mut theirs) = (Counted::new(), Counted::new());
    let mut untold: Vec<&Value> = Vec::new();
    for problem in problems {
        let shown = same_form(problem).to_string();
        *theirs.entry(shown.clone()).or_default() += 1;
        // What stands for several is about the files of all of them, and would be taken for any one.
        match left.iter().position(|check| gathered(check).is_none() && tells(check, problem)) {
            Some(at) => {
                left.swap_remove(at);
                *ours.entry(shown).or_default() += 1;
            }
            None => untold.push(problem),
        }
    }
    // The tool tells the first of a kind one by one and counts the others: the count must be right.
    left.retain(|check| {
        let kind = text(&check["checkName"]).trim_start_matches("npm.types.");
        let of_kind = || untold.iter().filter(|problem| text(&problem["kind"]) == kind);
        let counts = gathered(check) == Some(of_kind().count());
        if counts {
            for problem in of_kind() {
                *ours.entry(same_form(problem).to_string()).or_default() += 1;
            }
        }
        !counts
    });
    for check in left {
        let shown = json!([check["checkName"], check["details"]]).to_string();
        *ours.entry(shown).or_default() += 1;
    }
    (ours, theirs)
}

/// How many more problems of a kind a check stands for.
fn gathered(check: &Value) -> Option<usize> {
    text(&check["details"]).strip_suffix(" more like these")?.parse().ok()
}

/// Whether a check tells of this problem.
fn tells(check: &Value, problem: &Value) -> bool {
    let kind = text(&problem["kind"]);
    let details = text(&check["details"]);
    let about = |file: &Value| {
        let path = text(file).trim_start_matches("/node_modules/");
        let below = path.splitn(if path.starts_with('@') { 3 } else { 2 }, '/').last().unwrap_or_default();
        list(&check["files"]).iter().any(|file| file == below)
    };
    if text(&check["checkName"]).strip_prefix("npm.types.") != Some(kind) {
        return false;
    }
    if let Some(entry) = problem["entrypoint"].as_str() {
        // It is always the resolution of `require` that this is about.
        let resolution = kind == "CJSResolvesToESM" || details.contains(text(&problem["resolutionKind"]));
        return details.contains(&format!("`{entry}`")) && resolution;
    }
    match kind {
        "InternalResolutionError" => {
            let says = |field: &str| details.contains(&format!("`{}`", text(&problem[field])));
            about(&problem["fileName"]) && says("moduleSpecifier") && says("resolutionOption")
        }
        _ if problem.get("typesFileName").is_some() => {
            about(&problem["typesFileName"]) && about(&problem["implementationFileName"])
        }
        _ => about(&problem["fileName"]),
    }
}
