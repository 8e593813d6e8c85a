//! Every family that is compiled in.

use kit::Family;

/// The families, in the order that references list them.
pub const ALL: &[&Family] = &[
    &tools_front::FAMILY,
    &tools_design::FAMILY,
    &tools_session::FAMILY,
    &tools_knowledge::FAMILY,
    &tools_setup::FAMILY,
    &tools_devtools::families::RUNS_FAMILY,
    &tools_devtools::families::GIT_FAMILY,
    &tools_devtools::families::MAKE_FAMILY,
    &tools_devtools::families::GO_FAMILY,
    &tools_devtools::families::RUST_FAMILY,
    &tools_devtools::families::NODE_FAMILY,
    &tools_devtools::families::PYTHON_FAMILY,
    &tools_devtools::families::LINT_FAMILY,
    &tools_devtools::families::TEST_FAMILY,
    &tools_devtools::families::SMART_FAMILY,
    &tools_devtools::families::FILES_FAMILY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_of_the_crates_of_tools_is_offered() {
        let single = [
            &tools_front::FAMILY,
            &tools_design::FAMILY,
            &tools_session::FAMILY,
            &tools_knowledge::FAMILY,
            &tools_setup::FAMILY,
        ];
        for family in single.into_iter().chain(tools_devtools::FAMILIES.iter().copied()) {
            assert!(ALL.iter().any(|offered| std::ptr::eq(*offered, family)), "{}", family.name);
        }
        assert_eq!(ALL.len(), single.len() + tools_devtools::FAMILIES.len());
    }
}
