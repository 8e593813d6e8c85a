//! Every file is understood, and its own examples hold.

#[test]
fn every_grammar_loads_and_its_examples_hold() {
    let mut wrong = Vec::new();
    for program in gatewright_grammar::programs() {
        match gatewright_grammar::verify(program) {
            Some(Ok(())) => {}
            Some(Err(error)) => wrong.push(format!("{program}: {error}")),
            None => wrong.push(format!("{program}: not there")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
