//! Reading changes nothing: HEAD, index, refs, objects and work tree are byte-identical, times included.

use std::fs;

use gatewright_history::{Limits, LogQuery, Sides};

use super::place::{GO_ON, Place, query};

pub(crate) fn read_everything(place: &Place) {
    let repo = place.repo();
    let limits = Limits::default();
    repo.status(&limits, &GO_ON).unwrap();
    for sides in [
        Sides::WorkTree { from: None },
        Sides::WorkTree { from: Some("HEAD".into()) },
        Sides::Staged { from: None },
    ] {
        repo.diff(&query(sides), &limits, &GO_ON).unwrap();
    }
    repo.ignores(&limits, &GO_ON).unwrap().is_ignored("x", false).unwrap();
    if repo.resolve("HEAD").is_ok() {
        let mut log = LogQuery::new("HEAD");
        log.stats = true;
        repo.log(&log, &limits, &GO_ON).unwrap();
        repo.commit("HEAD", &limits, &GO_ON).unwrap();
    }
}

#[test]
fn g18_nothing_changes_in_any_state_of_a_repository() {
    let conflict = || {
        let place = Place::with(&[("a", "1\n")]);
        place.git(&["checkout", "-qb", "other"]);
        place.write("a", "2\n");
        place.commit("other");
        place.git(&["checkout", "-q", "main"]);
        place.write("a", "3\n");
        place.commit("main");
        place
    };
    type Make = Box<dyn Fn() -> Place>;
    let states: [(&str, Make); 7] = [
        ("unborn", Box::new(Place::new)),
        (
            "dirty",
            Box::new(|| {
                let place = Place::with(&[("a", "1"), ("b", "1")]);
                place.write("a", "22");
                place.write("staged", "1");
                place.git(&["add", "staged"]);
                // Racily clean: an index that git would refresh.
                place.write("b", "1");
                place
            }),
        ),
        (
            "detached",
            Box::new(|| {
                let place = Place::with(&[("a", "1")]);
                place.git(&["checkout", "-q", "--detach"]);
                place
            }),
        ),
        (
            "merging",
            Box::new(move || {
                let place = conflict();
                assert!(!place.try_git(&["merge", "other"]));
                place
            }),
        ),
        (
            "rebasing",
            Box::new(move || {
                let place = conflict();
                assert!(!place.try_git(&["rebase", "other"]));
                place
            }),
        ),
        (
            "packed",
            Box::new(|| {
                let place = Place::with(&[("a", "1")]);
                place.git(&["gc", "-q"]);
                place.git(&["pack-refs", "--all"]);
                place
            }),
        ),
        (
            "sparse",
            Box::new(|| {
                let place = Place::with(&[("a/x", "1"), ("b/x", "1")]);
                place.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "a"]);
                place
            }),
        ),
    ];
    for (name, make) in states {
        let place = make();
        let before = place.fingerprint();
        read_everything(&place);
        assert!(place.fingerprint() == before, "{name}");
    }
}

#[test]
fn g20_locks_that_were_left_do_not_hinder_and_are_left() {
    let place = Place::with(&[("a", "1")]);
    for name in ["index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock"] {
        place.write(format!(".git/{name}"), "");
    }
    let before = place.fingerprint();
    read_everything(&place);
    assert!(place.fingerprint() == before);
}

#[test]
fn g20_objects_and_refs_that_were_cut_short_are_errors() {
    let place = Place::with(&[("a", "1\n"), ("b", "1\n")]);
    place.write("a", "2\n");
    place.commit("second");
    for what in ["HEAD", "HEAD^{tree}", "HEAD:a"] {
        let id = place.git(&["rev-parse", what]);
        let object = place.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        let whole = fs::read(&object).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 6] {
            fs::remove_file(&object).unwrap();
            fs::write(&object, &whole[..cut]).unwrap();
            let diff = place.repo().diff(&query(Sides::parse("HEAD~1..HEAD")), &Limits::default(), &GO_ON);
            assert!(diff.is_err(), "{what} {cut}");
        }
        fs::remove_file(&object).unwrap();
        fs::write(&object, &whole).unwrap();
    }
    let index = fs::read(place.path(".git/index")).unwrap();
    for cut in [0, 1, 11, 12, index.len() / 2, index.len() - 1] {
        fs::write(place.path(".git/index"), &index[..cut]).unwrap();
        assert!(place.repo().status(&Limits::default(), &GO_ON).is_err(), "{cut}");
    }
    fs::write(place.path(".git/index"), &index).unwrap();
    fs::write(place.path(".git/refs/heads/main"), "not an id\n").unwrap();
    assert!(place.repo().status(&Limits::default(), &GO_ON).is_err());
}
