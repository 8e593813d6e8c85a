//! Any text gives a result; module files that are written are read back.

use gatewright_projects::{Project, detect, go_module, parse_go_mod, parse_go_work};
use proptest::prelude::*;

use crate::folder;

const FILES: [&str; 17] = [
    "package.json",
    "go.mod",
    "go.work",
    "pyproject.toml",
    "Pipfile",
    "requirements.txt",
    "setup.cfg",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "settings.gradle.kts",
    "x.csproj",
    "x.sln",
    "pnpm-workspace.yaml",
    ".pre-commit-config.yaml",
    "Makefile",
    "x.go",
];

/// Pieces of all the formats, so that texts get past the first character.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "{", "}", "[", "]", "(", ")", "\"", "'", "`", ":", "=", "=>", ",", "\n", "\n\t", " ", "#", "##", "//", "/*",
            "*/", "\\", "\\\n", "$(", "%", "<", ">", "</", "/>", "project", "packages", "workspaces", "module", "require",
            "replace", "retract", "use", "tool", "[tool.x]", "[workspace]", "members", "name", "include", "define",
            "endef", "ifeq", ".PHONY", ".RECIPEPREFIX", "package", "//go:build", "&a", "*a", "- ", "<!--", "<![CDATA[",
            "*", "**", "!", "..", "@", ";", "\u{feff}", "\r\n", "é", "\u{1f600}",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_manifest_is_too_odd(texts in prop::collection::vec((0..FILES.len(), text()), 1..6)) {
        let files: Vec<_> = texts.iter().map(|(at, text)| (FILES[*at], text.as_str())).collect();
        let (_scratch, look) = folder(&files);
        let project = detect(&look, &[]).unwrap();
        prop_assert_eq!(detect(&look, &[]).unwrap(), project.clone());
        let json = serde_json::to_string(&project).unwrap();
        prop_assert_eq!(serde_json::from_str::<Project>(&json).unwrap(), project);
        go_module(&look).unwrap();
    }

    #[test]
    fn no_bytes_are_too_odd(at in 0..FILES.len(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let (scratch, look) = folder(&[]);
        std::fs::write(scratch.path().join(FILES[at]), bytes).unwrap();
        detect(&look, &[]).unwrap();
        go_module(&look).unwrap();
    }

    #[test]
    fn go_files_are_read_whatever_they_are(text in text()) {
        parse_go_mod("go.mod", &text, &mut Vec::new());
        parse_go_work("go.work", &text, &mut Vec::new());
    }

    #[test]
    fn a_module_file_that_is_written_is_read_back(file in module_file()) {
        let mut problems = Vec::new();
        let read = parse_go_mod("go.mod", &file.text, &mut problems);
        prop_assert_eq!(problems, vec![], "{}", file.text);
        prop_assert_eq!(read.module.as_deref(), Some(file.module.as_str()));
        prop_assert_eq!(read.go.as_deref(), Some("1.25"));
        let requires: Vec<_> =
            read.requires.iter().map(|r| (r.path.clone(), r.version.clone(), r.indirect)).collect();
        prop_assert_eq!(requires, file.requires);
        let replaces: Vec<_> = read.replaces.iter().map(|r| (r.old.clone(), r.new.clone())).collect();
        prop_assert_eq!(replaces, file.replaces);
    }
}

#[derive(Debug, Clone)]
struct ModuleFile {
    text: String,
    module: String,
    requires: Vec<(String, String, bool)>,
    replaces: Vec<(String, String)>,
}

prop_compose! {
    fn module_file()(
        module in path(),
        requires in prop::collection::vec((path(), version(), any::<bool>(), 0..4_u8), 0..12),
        replaces in prop::collection::vec((path(), prop::option::of(version()), path(), version(), any::<bool>()), 0..5),
        crlf in any::<bool>(),
    ) -> ModuleFile {
        let mut text = format!("// A module.\nmodule {module}\n\ngo 1.25\n");
        let mut open = false;
        for (path, version, indirect, style) in &requires {
            let in_block = *style < 2;
            if in_block != open {
                text.push_str(if in_block { "require (\n" } else { ")\n" });
                open = in_block;
            }
            text.push_str(if open { "\t" } else { "require " });
            let comment = match (indirect, style) {
                (true, 0) => " // indirect; kept for later",
                (true, _) => " // indirect",
                (false, 0) => " // direct",
                (false, _) => "",
            };
            let path = if *style == 3 { format!("\"{path}\"") } else { path.clone() };
            text.push_str(&format!("{path} {version}{comment}\n"));
        }
        if open {
            text.push_str(")\n");
        }
        let mut written = Vec::new();
        for (old, at, new, version, local) in &replaces {
            let at_old = at.as_ref().map(|v| format!(" {v}")).unwrap_or_default();
            let target = if *local { format!("./{new}") } else { format!("{new} {version}") };
            text.push_str(&format!("replace {old}{at_old} => {target}\n"));
            written.push((
                at.as_ref().map_or_else(|| old.clone(), |v| format!("{old}@{v}")),
                if *local { format!("./{new}") } else { format!("{new}@{version}") },
            ));
        }
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let requires = requires.into_iter().map(|(p, v, i, _)| (p, v, i)).collect();
        ModuleFile { text, module, requires, replaces: written }
    }
}

fn path() -> impl Strategy<Value = String> {
    "[a-z]{1,8}\\.[a-z]{2,3}(/[a-zA-Z0-9_~.-]{1,10}){0,3}(/v[2-9])?"
}

fn version() -> impl Strategy<Value = String> {
    "v[0-9]{1,2}\\.[0-9]{1,2}\\.[0-9]{1,3}(-[a-z0-9.]{1,12})?(\\+incompatible)?"
}
