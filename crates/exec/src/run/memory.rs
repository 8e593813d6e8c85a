//! How much memory a run holds, by what the kernel says of its processes (proc(5)).
//!
//! It is looked at, not enforced: a control group that would is only there where somebody delegated one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// What a run must leave to the rest of the machine, in bytes.
pub(super) const RESERVE: u64 = 512 << 20;

/// What programs can still get without swapping, in bytes.
pub(super) fn available() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// All that the machine has, in bytes: found out once, and again only where it could not be.
pub(super) fn total() -> Option<u64> {
    static TOTAL: OnceLock<u64> = OnceLock::new();
    let read = || field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:");
    TOTAL.get().copied().or_else(read).map(|total| *TOTAL.get_or_init(|| total))
}

/// What the process `first` and everything that it started hold of their own, in bytes, where that is more than `most`: pages
/// that several share are counted once, if the kernel says how they are shared.
pub(super) fn held_beyond(first: u32, most: u64) -> Option<u64> {
    let tree = tree(first);
    let sum = |of: fn(u32) -> u64| tree.iter().map(|pid| of(*pid)).sum::<u64>();
    // Shared pages counted for each is quickly said, and no less than what is held.
    (sum(resident) > most).then(|| sum(proportional)).filter(|held| *held > most)
}

/// `first` and what descends from it. Orphans of a run stay among them: its init adopts them.
fn tree(first: u32) -> BTreeSet<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut found, mut open) = (BTreeSet::new(), vec![first]);
    while let Some(pid) = open.pop() {
        if found.insert(pid) {
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    found
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may have anything in it: the last parenthesis ends it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
    status.ok().and_then(|status| field(&status, "RssAnon:")).unwrap_or(0)
}

fn proportional(pid: u32) -> u64 {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    rollup.ok().and_then(|rollup| field(&rollup, "Pss_Anon:")).unwrap_or_else(|| resident(pid))
}

/// A line's number of kibibytes, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_holds_is_seen_with_that_of_its_children() {
        let (all, free) = (total().unwrap(), available().unwrap());
        assert!(all > RESERVE / 8 && free <= all);
        let own = vec![1_u8; 64 << 20];
        let held = held_beyond(std::process::id(), 60 << 20);
        assert!(held.is_some_and(|held| held >= own.len() as u64), "{held:?}");
        assert_eq!(held_beyond(std::process::id(), 1 << 50), None);
        assert_eq!(held_beyond(u32::MAX, 0), None);
        assert_eq!(field("Name:\tx\nRssAnon:\t    12 kB\n", "RssAnon:"), Some(12 * 1024));
    }
}
