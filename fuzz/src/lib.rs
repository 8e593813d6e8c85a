//! What is fuzzed, as plain functions: each takes any bytes, and panics when something that must hold does not.
//!
//! `cargo xtask fuzz TARGET` runs one guided by coverage (`fuzz/guided`, libFuzzer); the tests of this crate run all of
//! them for a few seconds on mutated seeds, so that CI does too.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a target that panics has found something")]
#![allow(clippy::missing_panics_doc, reason = "as above: that is what they are for")]
#![allow(clippy::disallowed_methods, reason = "the ledger's target writes the files that it verifies")]

use std::collections::BTreeMap;

use audit::chain::RatchetKey;
use audit::record::{self, ExecutionMode};
use audit::verify::{With, verify};
use audit::{Body, Ledger, Redactor, Transcript};
use contract::{CallId, Digest, PlanFile, RelPath, TranscriptId, canonical};
use design_tokens::{Options, Platform, References, compile};

/// A target: its name, what it does with bytes, and bytes to begin with.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// What the command line calls it.
    pub name: &'static str,
    /// Panics when something does not hold.
    pub run: fn(&[u8]),
    /// Bytes that reach far.
    pub seeds: &'static [&'static [u8]],
}

/// Everything that is fuzzed.
pub const TARGETS: &[Target] = &[
    Target {
        name: "tokens",
        run: tokens,
        seeds: &[
            include_bytes!("../../examples/harbor/tokens/base.json"),
            include_bytes!("../../examples/harbor/tokens/semantic.json"),
            br##"{"a":{"$type":"color","b":{"$value":{"colorSpace":"oklch","components":[0.5,"none",20],"alpha":0.5}},"c":{"$ref":"#/a/b"}},"d":{"$extends":"{a}","$root":{"$value":"{a.c}"}}}"##,
            br##"{"s":{"$type":"shadow","x":{"$value":[{"color":"{c}","offsetX":{"value":1,"unit":"px"},"offsetY":{"value":1,"unit":"rem"},"blur":{"value":1,"unit":"px"},"spread":{"value":0,"unit":"px"},"inset":true}]}},"c":{"$type":"color","$value":"#fff8"}}"##,
            br#"{"t":{"$type":"typography","$value":{"fontFamily":["A","serif"],"fontSize":{"value":1,"unit":"rem"},"fontWeight":"bold","letterSpacing":{"value":0,"unit":"px"},"lineHeight":1.5}}}"#,
            br##"{"m":{"value":"({m2} + 4px) * -1.5","type":"spacing"},"m2":{"value":"8px","type":"sizing"},"c":{"value":"rgba({d}, 0.5)","type":"color"},"d":{"value":"#102030","type":"color","$extensions":{"studio.tokens":{"modify":{"type":"mix","value":"0.2","space":"lch","color":"{c2}"}}}},"c2":{"value":"red","type":"color"}}"##,
            br##"{"version":"2025.10","resolutionOrder":[{"$ref":"#/sets/a"},{"type":"modifier","name":"m","default":"x","contexts":{"x":[],"y":[{"$ref":"#/sets/a"}]}}],"sets":{"a":{"sources":[{"g":{"$type":"duration","t":{"$value":{"value":1,"unit":"ms"}}}}]}}}"##,
            br#"{"core":{"a":{"value":"1px","type":"sizing"}},"dark":{},"$themes":[{"name":"L","selectedTokenSets":{"core":"enabled"}}],"$metadata":{"tokenSetOrder":["core"]}}"#,
            b"// JSON5\n{ a: { '$type': 'number', b: { $value: +0x1F, }, }, }",
        ],
    },
    Target { name: "path", run: path, seeds: &[b"a/b.css", b"../x", b"a//b", "a/\u{202e}b".as_bytes(), b".git/HEAD", b"C:\\x", b"a/./b\0"] },
    Target {
        name: "plan",
        run: plan,
        seeds: &[
            br#"{"plan":{"tool":"t","arguments":"0000000000000000000000000000000000000000000000000000000000000000","root":"r","owner":"0000000000000000000000000000000000000000000000000000000000000000","observed":[{"path":"a","seen":"0000000000000000000000000000000000000000000000000000000000000000"}],"effects":[{"effect":"put","path":"a/b","before":{"is":"absent"},"after":{"is":"file","digest":"0000000000000000000000000000000000000000000000000000000000000000","bytes":1,"mode":"0644"}},{"effect":"symlink","path":"l","before":{"is":"directory","listing":"0000000000000000000000000000000000000000000000000000000000000000"},"after":{"is":"symlink","target":"a"}}]},"planned":"2026-01-01T00:00:00Z","expires":"2026-01-02T00:00:00Z","answer":null}"#,
        ],
    },
    Target {
        name: "canonical",
        run: canonical,
        seeds: &[
            br#"{"b":1.50,"a":[1e21,-0.0,9007199254740991,1e-7,0.1],"\u20ac":"\u001f\"\\\n\ud83d\ude00","\ufb33":{}}"#,
            br#"[[[{"":null,"x":[true,false]}]],123456789012345680000,"\u007f"]"#,
        ],
    },
    Target { name: "ledger", run: ledger, seeds: &[b"\n", br#"{"seq":0}"#, b"\x00\x40flip", b"\xff\xff\x01"] },
    Target {
        name: "redact",
        run: redact,
        seeds: &[
            b"password=hunter2hunter2 and ghp_0123456789abcdefghijABCDEFGHIJ012345",
            b"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
            br#"{"apiKey":"0123456789abcdef","keyword":"x","url":"https://u:p@h/"}"#,
        ],
    },
    Target {
        name: "locks",
        run: locks,
        seeds: &[
            br#"{"lockfileVersion":3,"packages":{"":{},"node_modules/a":{"version":"1.0.0","resolved":"https://r.example/a/-/a-1.0.0.tgz","integrity":"sha512-a"}}}"#,
            b"lockfileVersion: '9.0'\npackages:\n  a@1.0.0:\n    resolution: {integrity: sha512-a}\n    engines: {node: '>=18'}\n",
            b"# yarn lockfile v1\n\n\"@s/a@^1\", b@npm:c@2:\n  version \"1.0.0\"\n  resolved \"https://r.example/a/-/a-1.0.0.tgz#ab\"\n",
            b"__metadata:\n  version: 8\n\"a@npm:1.0.0\":\n  version: 1.0.0\n  resolution: \"a@npm:1.0.0\"\n",
            b"{\"lockfileVersion\":1,\"packages\":{\"a\":[\"a@1.0.0\",\"\",{},\"sha512-a\"],}}",
            b"a==1.0 \\\n  --hash=sha256:aa\nb @ git+https://r.example/b@c\n-e ./x\n",
            br#"{"auditReportVersion":2,"vulnerabilities":{"a":{"via":[{"source":1,"url":"https://github.com/advisories/GHSA-x","severity":"high"}]}}}"#,
            br#"{"advisories":{"1":{"id":1,"module_name":"a","findings":[{"version":"1.0.0","paths":[".>a"]}]}}}"#,
        ],
    },
    Target {
        name: "front",
        run: front,
        seeds: &[
            b"---\nname: pdf-forms\ndescription: >-\n  Fills forms.\nmetadata:\n  version: \"1.0\"\n  gatewright-timeout: 2s\nallowed-tools: [Read]\n---\n# X\n",
            b"---\r\na: [1, {b: &x c}, 0x1F, .5, ~]\r\nd: |\r\n  two\r\n  lines\r\n? e\r\n: !!str 1\r\n---\r\n",
            b"---\na: *x\n...\n---\nb: 2\n---\n",
        ],
    },
    Target {
        name: "meta",
        run: meta,
        seeds: &[
            b"# Skill: X\n\n**Category:** database\n- __Quality Score__: **8.5/10**\n*Last Verified:* 2025-11-05\r\n**Reuse Count:** 12 uses\n**Verified:** no\n\n| Criterion | Score |\n|---|---|\n| Performance | 9/10 |\n",
            b"---\na: 1\n---\n**Dependencies:**\n- a\n\n```\n**Reuse Count:** 1\n",
            b"T\n===\n<!--\n**Reuse Count:** 1\n-->\n",
        ],
    },
    Target {
        name: "notes",
        run: notes,
        seeds: &[
            br#"{"type":"decision","content":"a\ud800\"\\","timestamp":"2026-01-01T00:00:00.000Z"}"#,
            b"{\"type\":\"decision\",\"content\":\"Use A for b\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"expires\":\"2026-01-02\"}\n{\"type\":\"decision\",\"content\":\"Do not use A for b\",\"timestamp\":\"x\",\"supersedes\":[\"note_0000000000000000\"]}\n{\"type",
        ],
    },
    Target {
        name: "plugin",
        run: plugin,
        seeds: &[
            include_bytes!("../../examples/plugins/ruff.toml"),
            b"schema = 1\n[plugin]\nname = 'a'\nversion = '1.0.0'\ndescription = 'A.'\nrequired-commands = ['wc']\n[[tool]]\nname = 'b'\ntitle = 'B'\ndescription = 'B.'\nkind = 'read'\nprogram = 'wc'\nargs = ['{{', { when = 'x', is = 'p', then = ['{x}'], else = ['--', '-{x}'] }, { each = 'l', as = ['{}'] }]\ninput.x = { type = 'enum', values = ['p', 'q'], description = 'X.' }\ninput.l = { type = 'line', list = true, description = 'L.' }\nexample = [{ argv = ['{', '--'] }]\n",
        ],
    },
    Target {
        name: "dotenv",
        run: dotenv,
        seeds: &[
            b"# c\nexport A=1 # x\nB = 'it''s'\nC=\"two\nlines\\n\"\r\nD=`x` y\nE: z\n",
            b"A='a\\'b'\nA=\"unclosed\nB=${A:-x}$B\nnonsense\n=\n",
            "\u{feff}A=\u{a0}1\u{a0}#\rB='\n".as_bytes(),
        ],
    },
    Target {
        name: "words",
        run: words,
        seeds: &[
            b"useAuthToken HTTPServer base64url oauth2 \"circuit breaker\" -offset",
            "Größe naïve İstanbul 你好 e\u{301} \u{202e} don't".as_bytes(),
            b"a b c d e f g h i j k l m n o p q r s t \"\" - \"x",
        ],
    },
    Target {
        name: "strip",
        run: strip,
        seeds: &[
            b"export function f<T extends object>(a?: T, ...b: readonly string[]): asserts a is T { return (a as any)!; }\n",
            b"import type { A } from './a'; import { type B, c } from \"./b.ts\"; export type { A }; interface X<T> { [k: string]: T }\n",
            b"abstract class C<T> implements I { declare x: number; private readonly y? = 1; static #z!: T; override m(this: C<T>): void {} }\n",
            "const s = `\u{1F600}${x satisfies string}\u{2028}`; let v = <const T,>(t: T) => t; enum E { A }\n".as_bytes(),
        ],
    },
];

/// Any text as a token file: it compiles or has diagnostics; what compiles is written, twice the same.
pub fn tokens(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let name = if text.starts_with("//") { "t.json5" } else { "t.json" };
    let files = BTreeMap::from([(name.to_owned(), text)]);
    for references in [References::Var, References::Resolved] {
        let options = Options { references, ..Options::default() };
        match compile(&[name.to_owned()], &files, &options) {
            Err(diagnostics) => assert!(!diagnostics.is_empty(), "nothing was built and nothing was said"),
            Ok(compiled) => {
                for platform in [Platform::Css, Platform::Scss, Platform::Js] {
                    let once = compiled.emit(platform, &options).unwrap();
                    assert_eq!(once, compiled.emit(platform, &options).unwrap(), "output is stable");
                    for output in &once {
                        assert!(
                            !output.text.contains("NaN") || String::from_utf8_lossy(data).contains("NaN")
                        );
                    }
                }
                let _ = design_tokens::preview(&compiled, name);
            }
        }
    }
}

/// Any text as a path: what is taken is beneath, plain, and spelled as it was.
pub fn path(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(path) = RelPath::new(&text) else { return };
    assert_eq!(RelPath::new(path.as_str()).as_ref(), Ok(&path), "its own spelling is the path");
    assert!(!text.starts_with('/') && !text.contains('\0') && !text.is_empty());
    let parts: Vec<&str> = path.components().collect();
    assert!(
        parts.iter().all(|p| !p.is_empty() && *p != "." && *p != ".." && !p.eq_ignore_ascii_case(".git"))
    );
    assert_eq!(parts.join("/"), path.as_str());
    if let Some(parent) = path.parent() {
        assert_eq!(parent.join(path.file_name()).unwrap(), path);
    }
    let _ = path.resolve_reference(&text);
}

/// Any bytes as a kept plan: what reads has an id that its canonical form gives again.
pub fn plan(data: &[u8]) {
    let Ok(file) = serde_json::from_slice::<PlanFile>(data) else { return };
    let id = file.plan.id().unwrap();
    let bytes = canonical::to_vec(&file.plan).unwrap();
    let again: contract::Plan = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(again.id().unwrap(), id);
    for effect in &file.plan.effects {
        let _ = (effect.summary(), effect.reverse(), effect.blobs(), effect.phase());
    }
}

/// Any JSON is written as another implementation writes it; what is admitted reads back, and so does a record that holds it.
pub fn canonical(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(data) else { return };
    let written = canonical::of(&value);
    assert_eq!(written, serde_json_canonicalizer::to_vec(&value).unwrap());
    let is_admitted = canonical::admit(&value).is_ok();
    if is_admitted {
        canonical::parse_canonical(&written).unwrap();
    }
    match canonical::Text::of(&value) {
        Ok(text) => assert!(is_admitted && text.bytes() == written),
        Err(_) => assert!(!is_admitted || !value.is_object()),
    }
    let transcript = Transcript {
        id: TranscriptId::random().unwrap(),
        tool_call_id: CallId(String::from_utf8_lossy(data).into_owned()),
        timestamp_start: String::new(),
        timestamp_end: String::new(),
        tool_name: "fuzz".into(),
        tool_args: value,
        execution_mode: ExecutionMode::DryRun,
        exit_code: None,
        stdout: String::from_utf8_lossy(data).into_owned(),
        stderr: String::new(),
        artifacts: Vec::new(),
        redactions: Vec::new(),
        principal: String::new(),
        decision: String::new(),
        plan_id: None,
        definition_hash: None,
        confinement: String::new(),
        error: None,
        root: None,
        reached: Vec::new(),
        refused: Vec::new(),
        upstream: None,
        labels: Vec::new(),
        effects: Vec::new(),
        diff: String::new(),
        cost: None,
    };
    let (key, body) = (RatchetKey::from_bytes([7; 32]), Body::Transcript(Box::new(transcript)));
    let Ok(sealed) = record::seal(&body, 3, Digest::ZERO, &key) else { return };
    let opened = record::open(&sealed.line).unwrap();
    assert_eq!(opened.entry.integrity_hash, sealed.hash);
    // By what is written: 1.0 reads back as 1.
    let written = |body: &Body| canonical::to_vec(body).unwrap();
    assert_eq!(written(&opened.entry.body), written(&body));
    assert!(opened.is_sealed_with(&key) && !opened.is_sealed_with(&sealed.next));
    assert_eq!(opened.leaf, sealed.leaf);
}

/// Any bytes written over, or behind, a good ledger: verifying says so or finds it intact, and opening does not panic.
pub fn ledger(data: &[u8]) {
    let [place, how, rest @ ..] = data else { return };
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("ledger");
    let opened = Ledger::open(&dir).unwrap();
    let rotated = opened.rotate();
    drop((opened, rotated));
    let mut files = Vec::new();
    let mut open = vec![dir.clone()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let file = &files[usize::from(*place) % files.len()];
    let mut bytes = std::fs::read(file).unwrap();
    let at = usize::from(*how) * bytes.len() / 256;
    if how % 2 == 0 {
        bytes.truncate(at);
        bytes.extend_from_slice(rest);
    } else {
        bytes.iter_mut().skip(at).zip(rest).for_each(|(byte, with)| *byte ^= with);
    }
    std::fs::write(file, bytes).unwrap();
    let _ = verify(&dir, &With::default(), |_| {});
    let _ = Ledger::open(&dir);
}

/// Any text is redacted to text that, redacted again, stays as it is.
pub fn redact(data: &[u8]) {
    let redactor = Redactor::new(&[], [7; 32]);
    let text = String::from_utf8_lossy(data);
    let once = redactor.text(&text).into_owned();
    assert_eq!(redactor.text(&once), once, "redacting is done once and for all");
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(data) {
        let once = redactor.value(&value).value;
        assert_eq!(redactor.value(&once).value, once);
    }
}

/// Any bytes as every lock and report: read or refused, sorted, and nothing differs from itself.
pub fn locks(data: &[u8]) {
    for format in deps::Format::ALL {
        if let Ok(lock) = deps::read(format, data) {
            assert!(deps::Difference::between(&lock, &lock).is_empty(), "{format:?}");
            assert!(lock.packages.is_sorted_by_key(|p| (p.name.clone(), p.version.clone(), p.place.clone())));
        }
    }
    use deps::{Auditor, Lister, State};
    for auditor in [Auditor::Npm, Auditor::Pnpm, Auditor::Yarn, Auditor::PipAudit, Auditor::CargoAudit] {
        let audit = deps::audit(auditor, data);
        assert_eq!(
            audit.state == State::Complete,
            audit.why.is_none(),
            "{auditor:?}: what is not whole says why"
        );
        assert!(audit.advisories.iter().all(|row| !row.package.is_empty() && !row.ids.is_empty()));
    }
    for lister in [Lister::Npm, Lister::Pnpm, Lister::Yarn, Lister::Pip] {
        let _ = deps::outdated(lister, data);
    }
}

/// Any text as front matter and as a skill's file: it is read, or refused with a line that it has.
pub fn front(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines = u32::try_from(text.lines().count()).unwrap();
    match library::front::read(&text) {
        Err(error) => assert!((1..=lines + 1).contains(&error.place.line), "{error}: {:?}", error.place),
        Ok(found) => {
            let split = library::front::split(&text);
            assert_eq!(found.is_some(), split.yaml.is_some());
            assert!(text.get(split.body).is_some());
        }
    }
    let mut problems = library::Problems::of("x/SKILL.md");
    let skill = library::folder::read(&text, "x", &mut problems);
    assert!(
        skill.is_some_and(|skill| skill.conforms) || !problems.is_empty(),
        "nothing was read and nothing was said"
    );
}

/// Any text as a pattern's metadata: an edit is read back, a second one changes nothing, and none changes nothing either.
pub fn meta(data: &[u8]) {
    use library::meta::{Changes, edit, read};
    let text = String::from_utf8_lossy(data);
    if text.len() > library::markdown::MAX_DOCUMENT / 2 {
        return;
    }
    assert_eq!(edit(&text, &Changes::default()), text);
    let changes = Changes { reuse_count: Some(7), verified: Some(true), ..Changes::default() };
    let after = edit(&text, &changes);
    let found = read(&after, &mut library::Problems::of("x-SKILL.md"));
    assert_eq!((found.reuse_count, found.verified), (Some(7), Some(true)), "{after:?}");
    assert_eq!(edit(&after, &changes), after);
}

/// Any text as a file of notes: what is read is written and read as the same notes; states and conflicts are found.
pub fn notes(data: &[u8]) {
    use library::notes::{Note, read, states};
    let text = String::from_utf8_lossy(data);
    let found = read(&text, "notes.jsonl");
    let lines: Vec<String> = found.notes.iter().map(Note::line).collect();
    let again = read(&lines.join("\n"), "notes.jsonl");
    let ids = |notes: &[Note]| notes.iter().map(|n| n.id).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(ids(&found.notes), ids(&again.notes));
    assert_eq!(states(&found.notes, jiff::Timestamp::UNIX_EPOCH).len(), found.notes.len());
    let claims: Vec<_> = found
        .notes
        .iter()
        .map(|n| library::contradict::Claim { id: n.id, content: &n.content, subject: n.subject.as_deref() })
        .collect();
    let _ = library::contradict::conflicts(&claims);
}

/// Any text as a document and as a question: what is analysed is written and read as the same, and is found by its own words.
pub fn words(data: &[u8]) {
    use search::{Analyst, Document, Filters, MAX_WORD, Memory, Mode, Order, Query, words_of};
    let text = String::from_utf8_lossy(data);
    let own = words_of(&text);
    assert!(own.iter().all(|(word, stem)| !word.is_empty() && !stem.is_empty()));
    assert!(own.iter().all(|(word, _)| word.chars().count() <= MAX_WORD), "{own:?}");
    let document = |id: &str, body: &str| {
        Analyst::new().analyse(&Document {
            id,
            category: "a",
            quality: None,
            executable: false,
            verified: false,
            name: "b",
            title: &text,
            tags: &[&text],
            description: &text,
            headings: &[&text],
            code: &text,
            body,
        })
    };
    let analysed = document("a/b", &text);
    assert_eq!(search::Analysed::decode(&analysed.encode()).unwrap().encode(), analysed.encode());
    let whole = Memory::build([analysed, document("a/c", "")]).unwrap();
    let mut changed = Memory::build([document("a/c", "another text")]).unwrap();
    changed.put(document("a/c", "")).unwrap();
    changed.put(document("a/b", &text)).unwrap();
    let words: String = text.chars().take(search::MAX_QUERY).collect();
    for mode in [Mode::Fast, Mode::Comprehensive] {
        let Ok(query) = Query::parse(&words, mode, Filters::default()) else { continue };
        let found = whole.search(&query, Order::Score, 9).unwrap();
        let of = |answer: &search::Answer| {
            answer.hits.iter().map(|hit| (hit.id.clone(), hit.score)).collect::<Vec<_>>()
        };
        assert_eq!(
            of(&found),
            of(&changed.search(&query, Order::Score, 9).unwrap()),
            "one by one as at once"
        );
    }
    if let Some((word, _)) = own.first() {
        let query = Query::parse(word, Mode::Fast, Filters::default()).unwrap();
        assert_eq!(whole.search(&query, Order::Score, 9).unwrap().total, 2, "{word:?}");
    }
}

/// What is taken holds its own examples, gives no word that a value could have made an option, and is who its text says.
pub fn plugin(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(plugin) = plugins::Plugin::read(&text, "0.1.0") else { return };
    let config = plugin.configured(&serde_json::Map::new()).unwrap_or_default();
    for tool in &plugin.tools {
        for example in &tool.file.example {
            assert_eq!(tool.argv(&example.input, &config, None).as_ref(), Ok(&example.argv));
        }
        for refusal in &tool.file.refuses {
            assert!(tool.argv(&refusal.input, &config, None).is_err());
        }
        assert!(tool.schema().is_object() && tool.name.as_str().starts_with(&plugin.toolset()));
    }
    assert!(!plugin.told().is_empty());
}

/// Any text as a file of variables: names are names, lines are lines that it has, and the form of its line ends is nothing.
pub fn dotenv(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let file = dotenv::parse(&text);
    let one = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = one.matches('\n').count() + 1;
    for variable in &file.variables {
        assert!((1..=lines).contains(&variable.line), "{}", variable.name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        assert!(!variable.name.is_empty() && variable.name.chars().all(is_name));
    }
    assert!(file.problems.iter().all(|problem| (1..=lines).contains(&problem.line)));
    assert_eq!(dotenv::parse(&one), file);
}

/// Any text as TypeScript and as JavaScript: without its types it is as long, with the same lines, and a second time it is the same; or
/// it is refused with a line that it has.
pub fn strip(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for path in ["skill.ts", "skill.js"] {
        match skills::strip(path, &text) {
            Ok(stripped) => {
                assert_eq!(stripped.text.len(), text.len());
                let ends =
                    |text: &str| text.match_indices(['\n', '\u{2028}']).map(|(at, _)| at).collect::<Vec<_>>();
                assert_eq!(ends(&stripped.text), ends(&text));
                let again = skills::strip("skill.js", &stripped.text).unwrap();
                assert_eq!(again.text, stripped.text);
                assert_eq!(
                    (again.imports.len(), again.exports.len()),
                    (stripped.imports.len(), stripped.exports.len())
                );
            }
            Err(refusal) => {
                let lines = text.matches(['\n', '\r', '\u{2028}', '\u{2029}']).count() + 1;
                assert!(refusal.line >= 1 && usize::try_from(refusal.line).unwrap() <= lines, "{refusal}");
                assert!(!refusal.message.is_empty());
            }
        }
    }
}
