//! How documents stand.

use gatewright_documents::{
    Audited, By, Documents, Ground, Held, Level, Reason, State, audit, capabilities, defaults, generate,
    heal, judge, mark, requirements,
};

use crate::{Files, audited, healed, project};

fn states(all: &[Audited]) -> Vec<(&str, State, bool)> {
    all.iter().map(|said| (said.name.as_str(), said.state, said.heals)).collect()
}

#[test]
fn what_is_missing_is_made_and_then_fresh() {
    let mut files = project();
    assert_eq!(
        states(&audited(&files)),
        [
            ("project-instructions", State::Missing, true),
            ("api", State::Missing, true),
            ("schema", State::Missing, true)
        ]
    );
    assert_eq!(healed(&mut files), ["AGENTS.md", "docs/api.md", "docs/schema.md"]);
    assert_eq!(
        states(&audited(&files)),
        [
            ("project-instructions", State::Fresh, false),
            ("api", State::Fresh, false),
            ("schema", State::Fresh, false)
        ]
    );
    assert!(healed(&mut files).is_empty(), "a second time there is nothing to do");
}

#[test]
fn what_its_sources_left_behind_is_made_again_and_says_which() {
    let mut files = project();
    healed(&mut files);
    files.0.insert(
        "db/migrations/0002_more.sql".to_owned(),
        "ALTER TABLE orders ADD total INTEGER;\n".to_owned(),
    );
    let all = audited(&files);
    assert_eq!(all[2].state, State::Stale);
    assert_eq!(
        all[2].reasons,
        [Reason::Outdated { sources: vec!["db/migrations/0002_more.sql".to_owned()] }]
    );
    assert_eq!(all[2].reasons[0].text(), "changed since: db/migrations/0002_more.sql");
    assert_eq!(healed(&mut files), ["docs/schema.md"]);
    assert!(files.0["docs/schema.md"].contains("`total`"));
    // A source that changed without changing what is said of it changes nothing.
    let makefile = files.0["Makefile"].replace("cargo test", "cargo nextest run");
    files.0.insert("Makefile".to_owned(), makefile);
    assert!(audited(&files).iter().all(|said| said.state == State::Fresh));
    assert!(healed(&mut files).is_empty());
}

#[test]
fn what_somebody_wrote_or_edited_is_reported_and_left_alone() {
    let mut files = project();
    healed(&mut files);
    let edited = files.0["docs/api.md"].replace("One order", "One order, mostly");
    files.0.insert("docs/api.md".to_owned(), edited);
    files.0.insert("AGENTS.md".to_owned(), "# Ours\n\n`src/nothing.rs` and `make test`\n".to_owned());
    files.0.insert("docs/schema.md".to_owned(), "# Tables\n\nAs in the code.\n".to_owned());
    files.0.remove("db/migrations/0001_orders.sql");
    files.0.insert("db/schema.sql".to_owned(), "CREATE TABLE other (id int);".to_owned());
    let all = audited(&files);
    assert_eq!(
        states(&all),
        [
            ("project-instructions", State::Stale, false),
            ("api", State::HandWritten, false),
            ("schema", State::HandWritten, false)
        ]
    );
    assert_eq!((all[0].by, all[1].by, all[2].by), (Some(By::Hand), Some(By::Edited), Some(By::Hand)));
    assert_eq!(all[0].reasons, [Reason::NotSo { findings: 1 }]);
    assert_eq!((all[0].findings[0].line, all[0].findings[0].text.as_str()), (3, "src/nothing.rs"));
    assert_eq!(all[1].reasons, [Reason::Edited]);
    let before = files.clone();
    assert!(healed(&mut files).is_empty());
    assert_eq!(files.0, before.0);
}

#[test]
fn an_audit_made_to_lie_heals_nothing() {
    let mut files = project();
    files.0.insert("AGENTS.md".to_owned(), "# Ours\n".to_owned());
    let ground = Ground::survey(&files).unwrap();
    let all = audit(&ground, &defaults(), &capabilities(&ground), &|_| None);
    let said = Audited { heals: true, ..all[0].clone() };
    assert_eq!(heal(&ground, &defaults()[0], &said), None, "somebody wrote it");
    let missing = &all[1];
    assert_eq!(heal(&ground, &defaults()[0], missing), None, "it is another's");
}

#[test]
fn requirements_are_asked_for_where_they_apply() {
    let plain = Files::of(&[("README.md", "# X\n")]);
    assert_eq!(audited(&plain).len(), 1);
    let ground = Ground::survey(&plain).unwrap();
    let all = audit(&ground, &defaults(), &["api".to_owned()].into(), &|_| None);
    assert_eq!(states(&all)[1], ("api", State::Missing, false), "declared, and nothing to make it from");
    let error = generate(&ground, &defaults()[1]).unwrap_err().to_string();
    assert!(error.contains("**/openapi.yaml"), "{error}");
}

#[test]
fn age_and_sources_of_what_is_kept_elsewhere_make_it_stale() {
    let section: Documents =
        toml::from_str("[requirements.runbook]\nlevel = 'recommended'\nsources = ['deploy/*']\n").unwrap();
    let requirement = requirements(&section).unwrap().into_iter().find(|r| r.name == "runbook").unwrap();
    assert_eq!(requirement.level, Level::Recommended);
    let files = Files::of(&[("deploy/a.yml", "a"), ("README.md", "")]);
    let ground = Ground::survey(&files).unwrap();
    let held = |age_days, sources| Held { path: None, text: "# Runbook\n", age_days, sources };
    let same = [mark::Source::new("deploy/a.yml", b"a")];
    let other = [mark::Source::new("deploy/a.yml", b"b"), mark::Source::new("deploy/gone.yml", b"")];
    assert_eq!(judge(&ground, &requirement, Some(&held(Some(89), &same))).state, State::HandWritten);
    let said = judge(&ground, &requirement, Some(&held(Some(90), &other)));
    assert_eq!(said.state, State::Stale);
    assert_eq!(
        said.reasons,
        [
            Reason::SourcesChanged { sources: vec!["deploy/a.yml".to_owned(), "deploy/gone.yml".to_owned()] },
            Reason::Old { days: 90 }
        ]
    );
    assert_eq!(said.reasons[1].text(), "not looked at for 90 days");
    assert_eq!(judge(&ground, &requirement, None).reasons[0].text(), "there is none in the context store");
}

#[test]
fn what_cannot_be_read_is_nobodys_to_write_over() {
    let mut files = project();
    files.0.insert("AGENTS.md".to_owned(), "x".repeat(1024 * 1024 + 1));
    let all = audited(&files);
    assert_eq!(
        (all[0].state, all[0].by, all[0].reasons.clone()),
        (State::Stale, Some(By::Hand), vec![Reason::Unreadable])
    );
    assert!(!all[0].heals);
}

#[test]
#[cfg(unix)]
fn links_of_a_symbolic_link_lead_from_elsewhere() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("docs")).unwrap();
    std::fs::write(scratch.path().join("README.md"), "[a](LICENSE) [b](none.md)").unwrap();
    std::fs::write(scratch.path().join("LICENSE"), "").unwrap();
    std::os::unix::fs::symlink("../README.md", scratch.path().join("docs/README.md")).unwrap();
    let look = crate::disk::Disk(scratch.path().to_owned());
    let ground = Ground::survey(&look).unwrap();
    let found = gatewright_documents::claims("[a](LICENSE) [b](none.md)");
    assert_eq!(gatewright_documents::check(&ground, &found, "README.md").len(), 1);
    assert!(gatewright_documents::check(&ground, &found, "docs/README.md").is_empty());
}

#[test]
fn the_documents_of_this_repository_are_so() {
    let look = crate::disk::Disk(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let ground = Ground::survey(&look).unwrap();
    for path in ["README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md"] {
        let text = std::fs::read_to_string(look.0.join(path)).unwrap();
        let found = gatewright_documents::check(&ground, &gatewright_documents::claims(&text), path);
        assert!(found.is_empty(), "{path}: {found:#?}");
    }
}
