//! Where the browser is.

use std::os::unix::fs::PermissionsExt as _;
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
    let is_program = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if let Some(configured) = configured {
        let real = std::fs::canonicalize(configured).ok().filter(|real| is_program(real));
        return real.ok_or_else(|| {
            let message = format!("{}: there is no program there", configured.display());
            Fault::new(Code::ToolExecutionFailed, message)
                .suggest("Correct `program` in the section `[browser]` of your own configuration.")
        });
    }
    let found = PLACES.iter().map(Path::new).find(|path| is_program(path));
    found.and_then(|path| std::fs::canonicalize(path).ok()).ok_or_else(|| {
        Fault::new(Code::ToolExecutionFailed, "no browser is installed")
            .suggest("On Debian: `apt-get install chromium-headless-shell fonts-liberation`.")
            .suggest(
                "Or say where Chromium is: `program` in the section `[browser]` of your own configuration.",
            )
    })
}
