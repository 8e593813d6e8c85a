//! What a run may read besides its root: the system's programs and libraries, toolchains, and no more of any home.
//!
//! A world is made of what is named here: other homes, other roots, credentials and gatewright's own state are not in it.
//! Where one of them lies within something that is named (a root that is a whole home, say), an empty one is put over it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// System folders, where they are.
const SYSTEM: &[&str] = &["/usr", "/opt", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew"];

/// What programs look up about the machine. Nothing here is secret; `/etc` itself is not given.
const ETC: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// Toolchains and packages below a home: programs and libraries, no settings and no credentials.
const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".deno/bin",
    ".fnm",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".nvm",
    ".rbenv",
    ".sdkman/candidates",
    ".volta",
    "go/bin",
    "go/pkg/mod",
    "sdk",
];

/// What holds credentials below a home, should a root or toolchain hold the home.
const CREDENTIALS: &[&str] = &[
    ".aws",
    ".azure",
    ".bash_history",
    ".codex",
    ".claude",
    ".claude.json",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/state",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".vault-token",
    ".yarnrc.yml",
    ".zsh_history",
];

/// Variables that say where a toolchain is. They are passed on as they are, where they name what may be read.
const PLACES: &[&str] =
    &["ASDF_DATA_DIR", "GOROOT", "JAVA_HOME", "MISE_DATA_DIR", "NVM_DIR", "SDKMAN_DIR", "VOLTA_HOME"];

/// Variables that choose a version or how a program behaves, and are no place and no secret.
const PLAIN: &[&str] = &["GOTOOLCHAIN", "NODE_ENV", "PYENV_VERSION", "RUSTUP_TOOLCHAIN"];

/// A folder that a toolchain keeps. A run is told of it, since its own home has none.
struct Keeps {
    /// The variable that names it.
    variable: &'static str,
    /// Where it usually is, below a home.
    usual: &'static str,
    /// What of it may be read, where that is not all.
    parts: &'static [&'static str],
    /// What of it nobody is to see, should it all lie in something that is shown.
    secrets: &'static [&'static str],
}

const KEPT: &[Keeps] = &[
    // Programs, downloaded crates and what is known of them; settings lie beside them.
    Keeps {
        variable: "CARGO_HOME",
        usual: ".cargo",
        parts: &["advisory-db", "bin", "git", "registry"],
        secrets: &["credentials", "credentials.toml"],
    },
    Keeps { variable: "PYENV_ROOT", usual: ".pyenv", parts: &[], secrets: &[] },
    Keeps { variable: "RUSTUP_HOME", usual: ".rustup", parts: &[], secrets: &[] },
];

/// What a run may read, and what is hidden in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// What every program may read: absolute places, none within another.
    pub ground: Vec<PathBuf>,
    /// What this program needs besides: none within another, nor within the ground.
    pub readable: Vec<PathBuf>,
    /// Places over which an empty one is put.
    pub hidden: Vec<PathBuf>,
    /// Variables that tell programs of toolchains.
    pub env: BTreeMap<String, String>,
}

/// What lies around: the homes and states that nobody is to see.
#[derive(Debug, Clone)]
pub struct Surroundings<'a> {
    /// The root that programs work over.
    pub root: &'a Path,
    /// Gatewright's own state.
    pub state: &'a Path,
    /// The home of whoever runs gatewright.
    pub home: Option<&'a Path>,
}

/// What programs on `path` need to run, `program` (an absolute place) among them.
#[must_use]
pub fn of(around: &Surroundings<'_>, path: &[PathBuf], program: &Path) -> Sight {
    let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let of_home = |name: &&str| around.home.map(|home| home.join(name));
    let kept: Vec<Kept> = KEPT.iter().flat_map(|by| Kept::of(by, around.home)).collect();
    let named = SYSTEM.iter().chain(ETC).map(PathBuf::from);
    let named = named.chain(TOOLCHAINS.iter().filter_map(of_home));
    let named = named.chain(kept.iter().flat_map(|kept| kept.parts.iter().cloned()));
    // A program's package lies beside the folder that is on the PATH.
    let ground = outermost(around, named.chain(path.iter().flat_map(|dir| package(dir))));
    let interpreters = interpreters(&real, path);
    let named_by = [program, &real].into_iter().chain(interpreters.iter().map(PathBuf::as_path));
    let mut readable = outermost(around, named_by.filter_map(Path::parent).flat_map(package));
    let lies_in = |places: &[PathBuf], place: &Path| places.iter().any(|outer| place.starts_with(outer));
    readable.retain(|place| !lies_in(&ground, place));
    let shown =
        |place: &Path| place.starts_with(around.root) || lies_in(&ground, place) || lies_in(&readable, place);
    let secrets = CREDENTIALS.iter().filter_map(of_home).chain([around.state.to_owned()]);
    let secrets = secrets.chain(kept.iter().flat_map(Kept::secrets));
    let hidden = secrets.filter(|place| shown(place)).collect();
    let mut env = BTreeMap::new();
    for name in PLACES {
        if let Some(place) = std::env::var_os(name).and_then(|v| v.into_string().ok())
            && shown(Path::new(&place))
        {
            env.insert((*name).to_owned(), place);
        }
    }
    for name in PLAIN {
        if let Ok(value) = std::env::var(name) {
            env.insert((*name).to_owned(), value);
        }
    }
    for kept in kept {
        if kept.parts.iter().any(|part| part.is_dir() && shown(part)) {
            env.entry(kept.by.variable.to_owned()).or_insert_with(|| kept.place.display().to_string());
        }
    }
    Sight { ground, readable, hidden, env }
}

/// Whether `real` lies among the system's programs or the user's toolchains.
#[must_use]
pub fn is_of_toolchains(around: &Surroundings<'_>, real: &Path) -> bool {
    let of_home = TOOLCHAINS.iter().filter_map(|name| around.home.map(|home| home.join(name)));
    let kept = KEPT.iter().flat_map(|by| Kept::of(by, around.home)).flat_map(|kept| kept.parts);
    SYSTEM.iter().map(PathBuf::from).chain(of_home).chain(kept).any(|place| real.starts_with(place))
}

/// Those of `places` that may be shown, without those that lie within another.
fn outermost(around: &Surroundings<'_>, places: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = places.filter(|place| is_harmless(around, place)).collect();
    places.sort();
    places.dedup_by(|later, earlier| later.starts_with(&*earlier));
    places
}

/// A folder that a toolchain keeps, and what of it may be read.
struct Kept {
    by: &'static Keeps,
    place: PathBuf,
    parts: Vec<PathBuf>,
}

impl Kept {
    /// The one that the variable names, then the usual one.
    fn of(by: &'static Keeps, home: Option<&Path>) -> Vec<Self> {
        let named = std::env::var_os(by.variable).map(PathBuf::from).filter(|place| place.is_absolute());
        let places = named.into_iter().chain(home.map(|home| home.join(by.usual)));
        let kept = places.map(|place| {
            let parts = match by.parts {
                [] => vec![place.clone()],
                parts => parts.iter().map(|part| place.join(part)).collect(),
            };
            Self { by, place, parts }
        });
        kept.collect()
    }

    fn secrets(&self) -> impl Iterator<Item = PathBuf> {
        self.by.secrets.iter().map(|name| self.place.join(name))
    }
}

/// What runs `program`, where it is a script: its interpreter as it is named and as it really is.
fn interpreters(program: &Path, path: &[PathBuf]) -> Vec<PathBuf> {
    let mut head = [0; 256];
    let length = std::fs::File::open(program).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
    let line =
        String::from_utf8_lossy(head.get(..length.unwrap_or_default()).unwrap_or_default()).into_owned();
    let Some(named) = line.lines().next().and_then(|line| line.strip_prefix("#!")) else { return Vec::new() };
    let mut words = named.split_whitespace();
    let first = words.next().map(PathBuf::from);
    // `env` looks for the next word, its own flags left out.
    let is_env = first.as_ref().is_some_and(|first| first.file_name().is_some_and(|name| name == "env"));
    let looked_for = words.find(|word| !word.starts_with('-')).filter(|_| is_env);
    let found = match looked_for {
        Some(name) => path.iter().map(|dir| dir.join(name)).find(|file| file.is_file()),
        None => first,
    };
    let real = found.as_ref().and_then(|found| std::fs::canonicalize(found).ok());
    found.into_iter().chain(real).filter(|place| place.is_absolute()).collect()
}

/// What programs in `dir` need of what lies beside it: libraries, never a whole application's folder, which may be a home or
/// another project, and hold settings and credentials.
fn package(dir: &Path) -> Vec<PathBuf> {
    let named = |name: &str| dir.file_name().is_some_and(|own| own == name);
    let Some(above) = dir.parent() else { return vec![dir.to_owned()] };
    if named(".bin") && above.file_name().is_some_and(|own| own == "node_modules")
        || named("bin") && above.join("pkg/tool").is_dir()
    {
        // What npm installed, and Go's own root.
        return vec![above.to_owned()];
    }
    if named("bin") || named("sbin") {
        let beside =
            ["lib", "lib64", "libexec", "share", "include", "pyvenv.cfg"].map(|name| above.join(name));
        return std::iter::once(dir.to_owned()).chain(beside).collect();
    }
    vec![dir.to_owned()]
}

/// Whether `place` is there, is no link, and shows nothing of what nobody is to see.
fn is_harmless(around: &Surroundings<'_>, place: &Path) -> bool {
    let holds = |other: &Path| other.starts_with(place);
    let is_there = std::fs::symlink_metadata(place).is_ok_and(|there| there.is_dir() || there.is_file());
    let is_plain = std::fs::canonicalize(place).is_ok_and(|real| real == place);
    let is_top = place
        .parent()
        .is_none_or(|above| above.parent().is_none() && !SYSTEM.iter().any(|s| Path::new(s) == place));
    is_there
        && is_plain
        && !is_top
        && !holds(around.root)
        && !holds(around.state)
        && !around.home.is_some_and(holds)
        // What lies in the root is seen as the root is.
        && !place.starts_with(around.root)
        && !place.starts_with(around.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scripts_interpreter_is_seen_wherever_it_really_is() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        for dir in ["venv/bin", "versions/3/bin", "versions/3/lib", "root"] {
            std::fs::create_dir_all(home.join(dir)).unwrap();
        }
        std::fs::write(home.join("versions/3/bin/python3"), "").unwrap();
        std::os::unix::fs::symlink(home.join("versions/3/bin/python3"), home.join("venv/bin/python"))
            .unwrap();
        let script = home.join("venv/bin/tool");
        let (root, state) = (home.join("root"), home.join("state"));
        let around = Surroundings { root: &root, state: &state, home: None };
        for line in
            [format!("#!{}/venv/bin/python\n", home.display()), "#!/usr/bin/env -S python -u\n".to_owned()]
        {
            std::fs::write(&script, line).unwrap();
            let sight = of(&around, &[home.join("venv/bin")], &script);
            for seen in ["venv/bin", "versions/3/bin", "versions/3/lib"] {
                let place = home.join(seen);
                assert!(
                    sight.ground.contains(&place) || sight.readable.contains(&place),
                    "{seen}: {sight:?}"
                );
            }
        }
    }

    #[test]
    fn a_run_reads_the_system_and_toolchains_and_of_a_home_nothing_else() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap().join("home");
        for dir in [
            "work/root",
            ".state",
            ".cargo/bin",
            ".cargo/registry",
            ".ssh",
            "tools/bin",
            "tools/lib",
            ".local/bin",
            "bin",
        ] {
            std::fs::create_dir_all(home.join(dir)).unwrap();
        }
        let (root, state) = (home.join("work/root"), home.join(".state"));
        let around = Surroundings { root: &root, state: &state, home: Some(&home) };
        let path = [home.join("tools/bin"), home.join("bin"), PathBuf::from("/usr/bin")];
        let sight = of(&around, &path, Path::new("/usr/bin/env"));
        let sees = |name: &str| sight.ground.contains(&home.join(name));
        assert!(
            sees(".cargo/bin") && sees(".local/bin") && sees("tools/bin") && sees("tools/lib"),
            "{sight:?}"
        );
        assert!(
            sees(".cargo/registry") && !sees(".cargo"),
            "cargo's settings and credentials lie beside what it downloaded"
        );
        assert!(sight.env.contains_key("CARGO_HOME"));
        assert!(!sees("tools"), "an application's own folder holds more than its programs");
        assert!(sight.ground.contains(&PathBuf::from("/usr")));
        assert!(sight.readable.is_empty(), "all of it is in the ground");
        assert!(!sight.ground.contains(&home), "a folder of programs in a home does not give the home");
        assert!(sight.ground.iter().all(|place| !home.join(".ssh").starts_with(place)));
        assert!(sight.hidden.is_empty());
        let whole = Surroundings { root: &home, state: &state, home: Some(&home) };
        let sight = of(&whole, &path, Path::new("/usr/bin/env"));
        for secret in [home.join(".ssh"), home.join(".cargo/credentials.toml"), state.clone()] {
            assert!(sight.hidden.contains(&secret), "{secret:?}");
        }
    }
}
