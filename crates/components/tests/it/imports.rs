//! What a component imports is declared, or it does not load.

use gatewright_components as components;

use components::{Grants, Kind, Limits};

use crate::support::Guest;

fn refused(guest: &Guest, grants: Grants) -> components::Failure {
    guest.load(grants, Limits::default()).unwrap_err()
}

#[test]
fn an_import_of_wasi_is_refused_by_name() {
    let guest = Guest::echo()
        .with("(import \"wasi:cli/environment@0.2.6\" (instance (export \"initial-cwd\" (func (result (option string))))))");
    let failure = refused(&guest, Grants { reads: true, writes: true, programs: true, state: true });
    assert_eq!(failure.kind, Kind::Import);
    assert!(failure.message.contains("`wasi:cli/environment@0.2.6`"), "{failure}");
}

#[test]
fn an_import_of_anything_is_refused_by_name() {
    let guest = Guest::echo().with("(import \"ambient\" (func (result string)))");
    let failure = refused(&guest, Grants::default());
    assert!(failure.message.contains("`ambient`"), "{failure}");
}

#[test]
fn a_world_of_another_version_is_named_with_both() {
    for version in ["0.2.0", "0.1.1", "1.0.0"] {
        let failure = refused(&Guest::echo().with_log("x").of_world(version), Grants::default());
        assert_eq!(failure.kind, Kind::World);
        assert!(failure.message.contains(version) && failure.message.contains("0.1.0"), "{failure}");
    }
}

#[test]
fn a_function_that_is_not_declared_is_refused_with_what_declares_it() {
    let all = Grants { reads: true, writes: true, programs: true, state: true };
    for (function, kind, grants, declaration) in [
        ("read", "(param \"path\" string)", Grants { reads: false, ..all }, "reads"),
        ("glob", "(param \"pattern\" string)", Grants { reads: false, ..all }, "reads"),
        ("plan", "", Grants { writes: false, ..all }, "writes"),
        ("run", "(param \"program\" string)", Grants { programs: false, ..all }, "programs"),
        ("get", "(param \"key\" string)", Grants { state: false, ..all }, "state"),
        ("set", "(param \"key\" string)", Grants { state: false, ..all }, "state"),
    ] {
        let failure = refused(&Guest::echo().importing(function, kind), grants);
        assert_eq!(failure.kind, Kind::Import, "{function}");
        let message = &failure.message;
        assert!(message.contains(&format!("`{function}`")) && message.contains(declaration), "{message}");
    }
    let failure = refused(&Guest::echo().importing("connect", ""), all);
    assert!(failure.message.contains("`connect`"), "{failure}");
}

#[test]
fn a_function_that_is_missing_is_named() {
    for export in ["describe", "configure", "call"] {
        let failure = refused(&Guest::echo().without(export), Grants::default());
        assert_eq!(failure.kind, Kind::World);
        assert!(failure.message.contains(export), "{failure}");
    }
}
