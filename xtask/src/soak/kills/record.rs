//! What the record says after the next start, and what else a killed server left.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::session::Place;
use crate::sh::Done;

/// The record of a place.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The ids of its transcripts.
    pub(crate) transcripts: BTreeSet<String>,
    /// How often a process settled what another had left.
    pub(crate) recoveries: usize,
    /// How many of these found whole records that had not been counted yet.
    pub(crate) adopted: usize,
    /// How many of these moved the bytes of a torn last line aside.
    pub(crate) torn: usize,
}

fn said(place: &Place, args: &[&str]) -> Done<String> {
    let out = place.command(args).output().map_err(|e| format!("{}: {e}", place.program.display()))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if out.status.success() {
        return Ok(text);
    }
    Err(format!("gatewright {}: {text}{}", args.join(" "), String::from_utf8_lossy(&out.stderr)))
}

impl Record {
    /// Verifies the record, and reads it. What does not verify is an error.
    pub(crate) fn verified(place: &Place) -> Done<Self> {
        let report: Value = serde_json::from_str(&said(place, &["audit", "verify", "--output", "json"])?)
            .map_err(|e| e.to_string())?;
        if report["intact"] != true || report["macsChecked"] != true {
            return Err(format!("the record does not verify: {report}"));
        }
        let mut record = Self::default();
        for line in said(place, &["audit", "export"])?.lines() {
            let entry: Value = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
            match (entry["type"].as_str(), entry["id"].as_str()) {
                (Some("transcript"), Some(id)) => drop(record.transcripts.insert(id.to_owned())),
                (Some("recovery"), _) => {
                    record.recoveries += 1;
                    record.adopted += usize::from(entry["adopted"].as_u64() > Some(0));
                    record.torn += usize::from(entry["tornBytes"].as_u64() > Some(0));
                }
                _ => {}
            }
        }
        Ok(record)
    }
}

fn count(dir: &Path) -> usize {
    fs::read_dir(dir).map(|entries| entries.flatten().count()).unwrap_or_default()
}

/// Plans that are half done: after a start there are none.
pub(crate) fn journals(place: &Place) -> usize {
    place.own_state().map(|state| count(&state.join("journal"))).unwrap_or_default()
}

/// Scratch folders in the state, with their layers where these lie there.
pub(crate) fn scratch(place: &Place) -> usize {
    place.own_state().map(|state| count(&state.join("scratch"))).unwrap_or_default()
}

/// Layers beside the root.
pub(crate) fn beside(place: &Place) -> usize {
    let above = place.root.parent().and_then(|above| fs::read_dir(above).ok());
    let ours = above
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(".gatewright-"));
    ours.map(|folder| count(&folder.path())).sum()
}
