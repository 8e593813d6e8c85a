//! This machine.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use contract::{Code, Fault};
use exec::run::{Launcher, Level};
use exec::{Root, StateDir};

use super::{Look, Place};

/// What makes more confinement possible.
pub const CONFINE: &str = "allow unprivileged user namespaces (`sysctl kernel.unprivileged_userns_clone=1`, or \
                           `kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu), or use a kernel with Landlock; or accept \
                           less with `confinement` under [security] in your configuration";

/// Less than this free, and runs are ended soon: they must leave that much.
const LITTLE: u64 = 1024 * 1024 * 1024;

/// How far ahead of the clock what is on the disk may be.
const AHEAD: Duration = Duration::from_mins(2);

/// How far programs are confined here, and over what they are rehearsed.
pub struct Confined {
    /// How far.
    pub level: Level,
    /// How far the user wants it: below, programs are refused.
    pub least: Level,
    /// In words.
    pub text: String,
}

/// Tries it over `root`.
pub fn confined(state: &StateDir, root: Option<&Root>, least: Level) -> Result<Confined, Fault> {
    let launcher = Launcher::own().at_least(least);
    let tried = exec::workshop::tried(&launcher, state, root)?;
    let layers: Vec<String> = tried
        .offer
        .layers
        .iter()
        .filter_map(|layer| serde_json::to_value(layer).ok()?.as_str().map(str::to_owned))
        .collect();
    let over = match tried.layered {
        Some(true) => "; rehearsed over a layer on the root",
        Some(false) => "; rehearsed over a copy of the root, since no overlay can be laid over it",
        None => "",
    };
    let (level, least) = (tried.offer.level, launcher.least());
    let missing = tried.offer.missing.join("; ");
    let text = if level < least {
        let (asked, had) = (least.word(), level.word());
        format!("programs are refused: {asked:?} is asked for and {had:?} is to be had ({missing})")
    } else if level < Level::Full {
        format!("programs are confined by {:?} only ({missing}){over}", level.word())
    } else {
        let lacks = if missing.is_empty() { String::new() } else { format!(", without {missing}") };
        format!("full: {}{lacks}{over}", layers.join(", "))
    };
    Ok(Confined { level, least, text })
}

pub(super) fn confinement(place: &Place<'_>) -> Look {
    let least = place.config().security.confinement.level();
    let confined = match place.state().and_then(|state| confined(&state, place.root(), least)) {
        Ok(confined) => confined,
        Err(fault) => return fault.into(),
    };
    if confined.level < confined.least {
        Look::fail(confined.text, CONFINE)
    } else if confined.level < Level::Full {
        Look::warn(confined.text, CONFINE)
    } else {
        Look::ok(confined.text)
    }
}

pub(super) fn state(_: &Place<'_>) -> Look {
    let base = match StateDir::base() {
        Ok(base) => base,
        Err(fault) => return fault.into(),
    };
    match std::fs::metadata(&base).map(|there| there.permissions().mode() & 0o777) {
        Ok(mode) if mode & 0o077 != 0 => {
            let fix = format!("take it from them: `chmod 700 {}`", base.display());
            Look::fail(format!("kept in {}, which others may look into ({mode:o})", base.display()), fix)
        }
        Ok(_) | Err(_) => Look::ok(format!("kept in {}", base.display())),
    }
}

/// Takes the folder of the state from everybody but its owner.
pub(super) fn close_state(_: &Place<'_>) -> Result<(), Fault> {
    let base = StateDir::base()?;
    std::fs::set_permissions(&base, std::fs::Permissions::from_mode(0o700)).map_err(|error| {
        Fault::new(Code::FilesystemError, format!("{}: {error}", base.display()))
            .suggest("Whoever owns the folder can: the owner, or root.")
    })
}

/// Room where records and plans are kept, and where runs write: beside the root.
pub(super) fn disk(place: &Place<'_>) -> Look {
    let mut places: Vec<PathBuf> = StateDir::base().into_iter().collect();
    places.extend(place.path().map(Path::to_owned));
    let mut told = Vec::new();
    for folder in places {
        let Some(there) = folder.ancestors().find(|dir| dir.exists()) else { continue };
        let Ok(disk) = rustix::fs::statvfs(there) else { continue };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < LITTLE {
            return Look::warn(
                format!("{} MiB are left in {}", free / 1024 / 1024, there.display()),
                "free some: records and plans are refused where there is no room, and runs are ended",
            );
        }
        told.push(free / LITTLE);
    }
    match told.iter().min() {
        None => Look::skipped("how full the disks are cannot be told"),
        Some(least) => Look::ok(format!("{least} GiB are free")),
    }
}

/// Records, plans and approvals have times in them: a clock that went back makes them of the future.
pub(super) fn clock(place: &Place<'_>) -> Look {
    let Ok(state) = place.state() else { return Look::skipped("there is no record yet") };
    let entries = std::fs::read_dir(state.ledger()).into_iter().flatten().flatten();
    let newest = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max();
    let Some(newest) = newest else { return Look::skipped("there is no record yet") };
    match newest.duration_since(SystemTime::now()) {
        Ok(ahead) if ahead > AHEAD => Look::warn(
            format!("the record is {} min ahead of the clock", ahead.as_secs() / 60),
            "set the clock: what expires does so by it",
        ),
        _ => Look::ok("not behind the record"),
    }
}

/// Where programs come from. What others may write to is left out.
pub(super) fn path(place: &Place<'_>) -> Look {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let open: Vec<String> = std::env::split_paths(&path)
        .filter(|dir| {
            std::fs::metadata(dir)
                .is_ok_and(|there| there.is_dir() && there.permissions().mode() & 0o002 != 0)
        })
        .map(|dir| dir.display().to_string())
        .collect();
    let inside = place.path().map_or(0, |root| {
        std::env::split_paths(&path)
            .filter(|dir| std::fs::canonicalize(dir).is_ok_and(|dir| dir.starts_with(root)))
            .count()
    });
    if let Some(first) = open.first() {
        return Look::warn(
            format!("no program is taken from {}: everybody may write there", open.join(", ")),
            format!("`chmod o-w {first}`, or take it off the PATH"),
        );
    }
    if inside > 0 {
        return Look::warn(
            "no program is taken from the folders of the PATH that lie in the repository",
            "install what tools are to run outside of it",
        );
    }
    Look::ok("programs come from folders that only their owners write")
}
