//! What a component says of itself is held to what may be said.

use gatewright_components as components;

use components::{Grants, Kind, Limits};

use crate::support::Guest;

#[test]
fn tools_are_described_as_tools_may_be() {
    let long = "x".repeat(601);
    for (field, text, said) in [
        (0, "Echo", "no name"),
        (0, "", "no name"),
        (0, "go__test\u{200b}", "no name"),
        (1, " ", "a title"),
        (2, "Hidden \u{202e}text", "a description"),
        (2, "Read this\u{e0041}", "a description"),
        (2, "An \u{1b}[2J escape", "a description"),
        (2, long.as_str(), "a description"),
        (3, "{", "no JSON"),
        (3, "{\"type\": \"string\"}", "\"object\""),
        (3, "{\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#\"}}}", "$ref"),
        (4, "write", "must be \"read\" or \"run\""),
    ] {
        let mut guest = Guest::echo();
        text.clone_into(&mut guest.tools[0][field]);
        let failure = guest.load(Grants::default(), Limits::default()).unwrap_err();
        assert_eq!(failure.kind, Kind::World, "{text:?}");
        assert!(failure.message.contains(said), "{text:?}: {failure}");
    }
}

#[test]
fn two_tools_of_one_name_and_none_at_all_are_refused() {
    let mut guest = Guest::echo();
    guest.tools.push(guest.tools[0].clone());
    let failure = guest.load(Grants::default(), Limits::default()).unwrap_err();
    assert!(failure.message.contains("two tools are called echo"), "{failure}");
    guest.tools.clear();
    let failure = guest.load(Grants::default(), Limits::default()).unwrap_err();
    assert!(failure.message.contains("0 tools"), "{failure}");
}
