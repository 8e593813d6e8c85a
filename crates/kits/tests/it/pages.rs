//! What pages are made of, whatever the facts say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;

use crate::fixture::{Files, kit, pages};
use crate::tree::{self, Handle};

/// Kinds of tokens, as DTCG calls them, and one that it does not know.
const KINDS: [&str; 14] = [
    "color",
    "dimension",
    "duration",
    "cubicBezier",
    "transition",
    "fontWeight",
    "fontFamily",
    "shadow",
    "gradient",
    "border",
    "strokeStyle",
    "typography",
    "number",
    "plain",
];

/// A text that is neither markup nor the value of any kind.
const PLAIN: &str = "plain;";

/// Texts that end what they stand in, if it lets them.
const HOSTILE: [&str; 16] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style></script><svg/onload=alert(1)>",
    "--><iframe src=//x.example>",
    "]]><a href=\"javascript:alert(1)\">",
    "&lt;b&gt;&#60;b&#62;&quot;",
    "javascript:alert(1)",
    "red;}*{background:url(//x.example)}",
    "url(#a) <style>@import '//x.example'</style>",
    "</textarea></noscript></template></svg></math>",
    "{{constructor.constructor('x')()}}${x}",
    "\u{202e}\u{2028}\u{feff}",
    "\u{0}\r\n\t\u{1b}",
    "<base href=//x.example><meta http-equiv=refresh content=0>",
    "../../../etc/passwd",
];

fn built(text: &str, kind: &str) -> Files {
    let (kit, files) = kit(text, kind);
    kits::build(&kit, files).unwrap()
}

/// The elements of a page with the names of their attributes; without those that say where a line may end or what is code.
fn skeleton(page: &Handle) -> Vec<String> {
    let mut out = Vec::new();
    for element in page.elements() {
        let tag = element.tag().unwrap().to_owned();
        if tag != "wbr" && tag != "code" {
            let names: Vec<String> = element.attributes().into_iter().map(|(name, _)| name).collect();
            out.push(format!("{tag} {}", names.join(" ")));
        }
    }
    out
}

/// Skeletons by page; pages of components by their order, for their names follow the text.
fn skeletons(built: &Files) -> Vec<Vec<String>> {
    let pages = pages(built);
    let mut out: Vec<_> = pages.values().map(|bytes| skeleton(&tree::parse(bytes))).collect();
    out.sort();
    out
}

/// What pages are made of when the facts say nothing odd, by kind.
static HARMLESS: LazyLock<BTreeMap<&str, Vec<Vec<String>>>> =
    LazyLock::new(|| KINDS.into_iter().map(|kind| (kind, skeletons(&built(PLAIN, kind)))).collect());

fn assert_only_text(text: &str, kind: &str) -> Result<(), TestCaseError> {
    let hostile = built(text, kind);
    for (is, must) in skeletons(&hostile).iter().zip(&HARMLESS[kind]) {
        let odd = is.iter().zip(must).find(|(a, b)| a != b);
        prop_assert!(
            is.len() == must.len() && odd.is_none(),
            "{text:?} {kind}: {odd:?}, {} and {}",
            is.len(),
            must.len()
        );
    }
    for (path, bytes) in pages(&hostile) {
        let page = tree::parse(bytes);
        prop_assert_eq!(page.named("script").len(), 1, "{}", path);
        prop_assert_eq!(page.named("style").len(), 0, "{}", path);
        for element in page.elements() {
            for (name, value) in element.attributes() {
                prop_assert!(!name.starts_with("on") && name != "style", "{path}: {name}");
                if matches!(name.as_str(), "href" | "src" | "action" | "formaction") {
                    let is_plain =
                        value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/%#?=&".contains(&b));
                    prop_assert!(is_plain && !value.starts_with("//"), "{path}: {name}={value}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn no_text_of_the_facts_is_markup() {
    for text in HOSTILE {
        assert_only_text(text, "plain").unwrap();
    }
    for kind in KINDS {
        assert_only_text(HOSTILE[1], kind).unwrap();
        assert_only_text(HOSTILE[8], kind).unwrap();
    }
}

#[test]
fn every_text_of_the_facts_is_shown() {
    let text = "<b>\"bold\" & 'so'</b>";
    let built = built(text, "plain");
    for (path, bytes) in pages(&built) {
        let page = tree::parse(bytes);
        let shown = page.text();
        // The page of an example has its title, its source, its findings; each page has the feature and the ticket.
        let least = match path {
            "index.html" => 20,
            "tokens.html" => 80,
            "notes.html" => 8,
            "accessibility.html" => 20,
            _ => 5,
        };
        let times = shown.matches(text).count();
        assert!(times >= least, "{path}: {times}");
        assert!(page.named("b").is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_the_facts_say_pages_are_made_of_the_same(
        parts in prop::collection::vec(prop_oneof![prop::sample::select(&HOSTILE[..]).prop_map(str::to_owned), "\\PC{1,12}"], 1..4),
        kind in prop::sample::select(&KINDS[..]),
    ) {
        // A name in front, so that the text is no value by chance.
        assert_only_text(&format!("x{}", parts.concat()), kind)?;
    }
}

/// Where a relative address leads, as a file of the kit.
fn target(page: &str, address: &str) -> (String, Option<String>) {
    let (address, fragment) = match address.split_once('#') {
        Some((address, fragment)) => (address, Some(fragment.to_owned())),
        None => (address, None),
    };
    let address = address.split('?').next().unwrap();
    let mut bytes = Vec::new();
    let mut rest = address.bytes();
    while let Some(b) = rest.next() {
        let hex = |b: Option<u8>| u8::try_from(char::from(b.unwrap()).to_digit(16).unwrap()).unwrap();
        bytes.push(if b == b'%' { hex(rest.next()) * 16 + hex(rest.next()) } else { b });
    }
    let path = String::from_utf8(bytes).unwrap();
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = match (path.as_str(), path.strip_prefix("../")) {
        ("", _) => page.to_owned(),
        (_, Some(up)) => {
            assert_eq!(folder, "components");
            up.to_owned()
        }
        (path, None) if folder.is_empty() => path.to_owned(),
        (path, None) => format!("{folder}/{path}"),
    };
    (path, fragment)
}

#[test]
fn every_link_leads_somewhere_and_every_name_is_used_once() {
    let built = built("text", "plain");
    let trees: BTreeMap<&str, Handle> = pages(&built).into_iter().map(|(p, b)| (p, tree::parse(b))).collect();
    let ids = |path: &str| -> Vec<String> {
        trees[path].elements().iter().filter_map(|e| e.attribute("id")).collect()
    };
    assert_eq!(trees.len(), 8, "{:?}", trees.keys());
    let mut links = 0;
    for (path, page) in &trees {
        let own = ids(path);
        assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), own.len(), "{path}: an id is used twice");
        for element in page.elements() {
            for (name, value) in element.attributes() {
                if name == "href" || name == "src" {
                    let (file, fragment) = target(path, &value);
                    assert!(built.contains_key(&file), "{path}: {value}");
                    if let Some(fragment) = fragment {
                        assert!(ids(&file).contains(&fragment), "{path}: {value}");
                    }
                    links += 1;
                }
                if matches!(name.as_str(), "aria-labelledby" | "for") {
                    assert!(own.contains(&value), "{path}: {name}={value}");
                }
            }
        }
    }
    assert!(links > 200, "{links}");
}

#[test]
fn pages_hold_their_policy_before_anything_that_it_governs() {
    for (path, bytes) in pages(&built("text", "color")) {
        let page = tree::parse(bytes);
        let head = &page.named("head")[0];
        let policy = &head.children()[1];
        assert_eq!(policy.attribute("http-equiv").as_deref(), Some("Content-Security-Policy"), "{path}");
        let policy = policy.attribute("content").unwrap();
        assert!(kits::page_policy().starts_with(&policy), "{path}");
        for frame in page.named("iframe") {
            assert_eq!(frame.attribute("sandbox").as_deref(), Some("allow-scripts"), "{path}");
        }
        for link in page.named("a").iter().filter(|a| a.attribute("target").is_some()) {
            assert!(link.attribute("rel").is_some_and(|rel| rel.contains("noreferrer")), "{path}");
        }
    }
}

#[test]
fn a_rule_is_explained_behind_a_link_that_says_nothing_of_the_reader() {
    let (mut kit, files) = kit("text", "plain");
    for example in kit.gallery.iter_mut().flat_map(|g| &mut g.components).flat_map(|c| &mut c.examples) {
        for finding in example.findings.iter_mut().flatten() {
            finding.help_url = "https://dequeuniversity.com/rules/axe/4.14/label".into();
        }
    }
    let built = kits::build(&kit, files).unwrap();
    let page = tree::parse(&built["accessibility.html"]);
    let links: Vec<_> =
        page.named("a").into_iter().filter(|a| a.attribute("href").unwrap().starts_with("https:")).collect();
    assert_eq!(links.len(), 3);
    assert!(links.iter().all(|a| a.attribute("rel").as_deref() == Some("noreferrer noopener")));
}
