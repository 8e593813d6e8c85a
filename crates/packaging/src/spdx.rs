//! Licences as [SPDX expressions](https://spdx.github.io/spdx-spec/v3.0/annexes/spdx-license-expressions/), with the list of licences.

use spdx::{Expression, ParseMode};

/// The longest expression that is read: it nests no deeper than that.
const MAX_BYTES: usize = 2_000;

fn parsed(text: &str, mode: ParseMode) -> Result<(), String> {
    if text.len() > MAX_BYTES {
        return Err(format!("it is longer than {MAX_BYTES} bytes"));
    }
    Expression::parse_mode(text, mode).map(|_| ()).map_err(|error| error.reason.to_string())
}

/// Whether a text is an expression of licences that the list has, `LicenseRef-…` among them; else why not. Deprecated identifiers
/// pass.
pub(crate) fn check(text: &str) -> Result<(), String> {
    parsed(text, ParseMode { allow_deprecated: true, ..ParseMode::STRICT })
}

/// The same as crates.io reads it: a slash is an `OR`.
pub(crate) fn check_with_slash(text: &str) -> Result<(), String> {
    parsed(text, ParseMode { allow_deprecated: true, allow_slash_as_or_operator: true, ..ParseMode::STRICT })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_those_of_the_list() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "(MIT AND BSD-3-Clause)",
            "GPL-2.0",
            "LicenseRef-Acme",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["", "MITT", "Apache 2.0", "MIT/Apache-2.0", "MIT OR", "Proprietary", "(MIT"] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert_eq!(check_with_slash("MIT/Apache-2.0"), Ok(()));
        assert!(check(&"(".repeat(100_000)).is_err());
        let _ = check(&format!("{}MIT{}", "(".repeat(900), ")".repeat(900)));
    }
}
