//! What pages of a kit may load and run: as a `meta` element in each page, and as header fields for a server of kits.
//!
//! What browsers make of it, from a file and over HTTP, is written down in `docs/design/review-kits.md`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The one script of generated pages, written into each: `'self'` in `script-src` would let a page opened as a file run any
/// file of the machine.
pub(crate) const SCRIPT: &str = include_str!("kit.js");

/// What an example may do wherever it is opened. `connect-src` and `form-action` keep it from talking; frames, images, styles and
/// scripts come from the kit.
const EXAMPLE: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; frame-src 'self'; \
    connect-src 'none'; object-src 'none'; worker-src 'none'; base-uri 'self'; form-action 'none'";

/// The policy that generated pages carry in themselves.
pub(crate) fn of_pages() -> String {
    let script = STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'self'; img-src 'self'; frame-src 'self'; \
         base-uri 'none'; form-action 'none'"
    )
}

/// The policy that examples carry in themselves. `sandbox` and `frame-ancestors` have no meaning in a `meta` element (HTML,
/// "Pragma directives").
pub(crate) const fn of_examples() -> &'static str {
    EXAMPLE
}

/// The value of `Content-Security-Policy` that a server of kits sends with every file of which
/// [`is_generated`](crate::is_generated) is true.
#[must_use]
pub fn page_policy() -> String {
    format!("{}; frame-ancestors 'none'", of_pages())
}

/// The value of `Content-Security-Policy` that a server of kits sends with all other files of a kit: the project's own pages and
/// what belongs to them. They run in an origin of their own, so that they reach neither the kit's pages nor anything that a browser
/// keeps for the server. Module scripts and fonts are asked for across origins then: the server must answer them with
/// `Access-Control-Allow-Origin`.
#[must_use]
pub fn example_policy() -> String {
    // No `frame-ancestors`: a frame of an example has an ancestor without an origin, which nothing but `*` matches.
    format!("{EXAMPLE}; sandbox allow-scripts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_runs_its_one_script_and_nothing_else() {
        let policy = page_policy();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("data:") && !policy.contains('*'), "{policy}");
        // A browser hashes the element's text with line ends normalised.
        assert!(!SCRIPT.contains('\r') && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }

    #[test]
    fn an_example_talks_to_nobody_and_has_no_origin() {
        let policy = example_policy();
        for part in
            ["connect-src 'none'", "form-action 'none'", "sandbox allow-scripts", "default-src 'none'"]
        {
            assert!(policy.contains(part), "{part}");
        }
        assert!(
            !policy.contains("allow-same-origin") && !policy.contains("http") && !policy.contains("eval")
        );
        assert!(!of_examples().contains("sandbox") && !of_examples().contains('"'));
    }
}
