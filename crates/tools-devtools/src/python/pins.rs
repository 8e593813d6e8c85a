//! What a Python project pins: of its lock, else of its requirements, else of what is installed in its environment.

use contract::{Fault, RelPath};
use kit::ReadDesk;

use super::Venv;

/// What is pinned, and where that is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pins {
    /// The file, or the folder of the environment.
    pub(crate) from: String,
    /// Names and versions.
    pub(crate) pinned: Vec<(String, String)>,
    /// What cannot be asked about: of git, of an address, or without a version.
    pub(crate) skipped: Vec<String>,
}

/// Lock files, the first that is there.
pub(crate) const LOCKS: [&str; 4] = ["uv.lock", "poetry.lock", "pylock.toml", "Pipfile.lock"];

/// Most names of what is skipped.
const MAX_SKIPPED: usize = 50;

impl Pins {
    /// Those of the project in `dir`; nothing where it pins nothing.
    pub(crate) fn of(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Option<Self>, Fault> {
        for name in LOCKS {
            let (Some(format), Some(bytes)) = (deps::Format::of(name), file(desk, dir, name)?) else {
                continue;
            };
            let lock = deps::read(format, &bytes).map_err(|unread| {
                Fault::new(contract::Code::InvalidSource, format!("{name}: {unread}")).suggest(
                    "Make the lock anew: `python_update_deps {\"mode\":\"check\"}` says what it holds.",
                )
            })?;
            return Ok(Some(Self::of_lock(name, lock)));
        }
        if let Some(bytes) = file(desk, dir, "requirements.txt")? {
            return Ok(Some(Self::of_requirements(&String::from_utf8_lossy(&bytes))));
        }
        Ok(Venv::near(desk, dir)?.map(|venv| Self::installed(desk, &venv)))
    }

    fn of_lock(name: &str, lock: deps::Lock) -> Self {
        let mut pins = Self { from: name.to_owned(), ..Self::default() };
        for package in lock.packages {
            match (package.source, package.version) {
                (deps::Source::Local, _) => {}
                (deps::Source::Registry | deps::Source::Unknown, Some(version)) => {
                    pins.pinned.push((package.name, version));
                }
                _ => pins.skip(package.name),
            }
        }
        pins
    }

    /// Requirements of which one version is named; options and comments are none.
    pub(crate) fn of_requirements(text: &str) -> Self {
        let mut pins = Self { from: "requirements.txt".to_owned(), ..Self::default() };
        let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
        for line in joined.lines() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') || line.starts_with("--") {
                continue;
            }
            let line = line.split(" --").next().unwrap_or_default();
            let line = line.split(';').next().unwrap_or_default().trim();
            match line.split_once("==") {
                Some((name, version)) if !line.starts_with('-') && !version.contains(['*', ',']) => {
                    let name = name.split('[').next().unwrap_or_default().trim();
                    pins.pinned.push((name.to_owned(), version.trim_start_matches('=').trim().to_owned()));
                }
                _ => pins.skip(line.to_owned()),
            }
        }
        pins
    }

    /// What an environment holds, by its records' names.
    fn installed(desk: &ReadDesk, venv: &Venv) -> Self {
        let mut pins = Self { from: venv.dir.to_string(), ..Self::default() };
        for packages in venv.packages(desk) {
            for entry in desk.view().list(Some(&packages)).unwrap_or_default() {
                let record = entry.name.strip_suffix(".dist-info").and_then(|stem| stem.split_once('-'));
                pins.pinned
                    .extend(record.map(|(name, version)| (name.replace('_', "-"), version.to_owned())));
            }
        }
        pins
    }

    fn skip(&mut self, what: String) {
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(what);
        }
    }

    /// As a requirements file in which every version is named. Names and versions that are none are left out.
    pub(crate) fn file(&self) -> String {
        let plain = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+!".contains(&b))
        };
        let pinned = self.pinned.iter().filter(|(name, version)| plain(name) && plain(version));
        pinned.flat_map(|(name, version)| [name, "==", version, "\n"]).collect()
    }
}

/// A file of the project in `dir`, where it is there and can be read.
pub(crate) fn file(desk: &ReadDesk, dir: Option<&RelPath>, name: &str) -> Result<Option<Vec<u8>>, Fault> {
    let path = dir.map_or_else(|| RelPath::new(name), |dir| dir.join(name));
    Ok(desk.view().read_optional(&path.map_err(|e| Fault::internal(e.to_string()))?).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_one_version_is_pinned_and_the_rest_is_told() {
        let text = "# all\nrequests[socks]==2.19.0 ; python_version > '3'\nattrs>=2\n-r other.txt\n--index-url x\nurllib3==1.24.1 \\\n    --hash=sha256:00\nsix==1.*\n-e .\ngit+https://x/y\n";
        let pins = Pins::of_requirements(text);
        assert_eq!(pins.file(), "requests==2.19.0\nurllib3==1.24.1\n");
        assert_eq!(pins.skipped, ["attrs>=2", "-r other.txt", "six==1.*", "-e .", "git+https://x/y"]);
        let hostile = Pins {
            pinned: vec![("a\n-r /etc/x".into(), "1".into()), ("b".into(), "1 --x".into())],
            ..Pins::default()
        };
        assert_eq!(hostile.file(), "");
    }
}
