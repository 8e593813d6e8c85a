//! Every family that is compiled in.

use kit::Family;

/// The families, in the order that references list them.
pub const ALL: &[&Family] = &[
    &tools_front::FAMILY,
    &tools_design::FAMILY,
    &tools_devtools::families::RUNS_FAMILY,
    &tools_devtools::families::GIT_FAMILY,
    &tools_devtools::families::MAKE_FAMILY,
    &tools_devtools::families::GO_FAMILY,
    &tools_devtools::families::LINT_FAMILY,
    &tools_devtools::families::TEST_FAMILY,
    &tools_devtools::families::SMART_FAMILY,
];
