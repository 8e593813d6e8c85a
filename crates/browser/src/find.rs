//! Where the browser is.

use std::path::{Path, PathBuf};

use contract::{Code, Fault};

/// Where systems put it, the one made for this first. What lies in `/usr/bin` may be a script that asks a desktop: never taken.
const PLACES: &[&str] = &[
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chrome",
];

/// The browser's program: the one that the user configured, else the first that is there.
pub fn find(configured: Option<&Path>) -> Result<PathBuf, Fault> {
    if let Some(configured) = configured {
        return exec::run::placed(&[configured]).ok_or_else(|| {
            let message = format!("{}: there is no program there", configured.display());
            Fault::new(Code::ToolExecutionFailed, message)
                .suggest("Correct `program` in the section `[browser]` of your own configuration.")
        });
    }
    let places: Vec<&Path> = PLACES.iter().map(Path::new).collect();
    exec::run::placed(&places).ok_or_else(|| {
        Fault::new(Code::ToolExecutionFailed, "no browser is installed")
            .suggest("On Debian: `apt-get install chromium-headless-shell fonts-liberation`.")
            .suggest(
                "Or say where Chromium is: `program` in the section `[browser]` of your own configuration.",
            )
    })
}
