//! Programs plainly, confined, and over a layer: what `crates/exec/benches/runs` measures.

use std::path::Path;

use serde_json::Value;

use crate::bench::samples::{Aim, Samples, bench};
use crate::sh::Done;

/// Milliseconds that confining may add to starting a program.
const OVERHEAD: f64 = 5.0;

fn find(lines: &[Value], work: &str, way: &str) -> Option<Samples> {
    lines.iter().find(|line| line["work"] == work && line["way"] == way).map(Samples::said)
}

pub(super) fn overhead(ours: &Path) -> Done<Option<Aim>> {
    let lines = bench("gatewright-exec", "runs", Some("overhead"), Some(ours))?;
    let Some(plain) = find(&lines, "true", "plain") else {
        println!("not measured: this machine gives no world of its own");
        return Ok(None);
    };
    println!(
        "\nstarting /bin/true: whole time in ms, median of 200 interleaved rounds; the launcher is gatewright itself"
    );
    println!("{:<44} {:>8} {:>8} {:>10} {:>10} {:>8}", "", "p50", "p95", "over p50", "over p95", "ratio");
    let ways = [
        ("plain", "plain spawn"),
        ("bwrap", "bwrap --unshare-all, a handful of mounts"),
        ("start", "the launcher's own start, with nothing to do"),
        ("cold", "confined, no launcher waits: all layers, no overlay"),
        ("confined", "confined, one waits: as all runs but the first"),
        ("layer", "a run over a layer that lies there"),
        ("workshop", "a whole workshop: layer, run, changes, gone"),
    ];
    let mut confined = f64::NAN;
    for (way, name) in ways {
        let Some(times) = find(&lines, "true", way) else {
            println!("{name:<44} absent: bwrap is not installed");
            continue;
        };
        let over = times.median() - plain.median();
        if way == "confined" {
            confined = over;
        }
        println!(
            "{name:<44} {:>8.2} {:>8.2} {over:>10.2} {:>10.2} {:>7.1}x",
            times.median(),
            times.p95(),
            times.p95() - plain.p95(),
            times.median() / plain.median()
        );
    }
    Ok(Some(Aim {
        met: confined <= OVERHEAD,
        what: format!("a confined run costs at most {OVERHEAD} ms more than a plain spawn (p50)"),
        there: format!("{confined:.2} ms"),
    }))
}

pub(super) fn files(ours: &Path) -> Done {
    let lines = bench("gatewright-exec", "runs", Some("files"), Some(ours))?;
    println!(
        "\nfiles: whole program in ms, median of 5 interleaved rounds; ratios against the plain program. 4,000 files of 4 KiB in \
         40 folders; into the page cache, nothing synced. changes: then finding out what was changed, and proposing it"
    );
    println!(
        "{:<46} {:>8} {:>10} {:>7} {:>10} {:>7} {:>9}",
        "", "plain", "confined", "ratio", "layer", "ratio", "changes"
    );
    let works = [
        ("copy", "cp -r of all (4,000 small reads and writes)"),
        ("read", "grep -r over all, four times"),
        ("rewrite", "sed -i of 1,000 (each copied up into the layer)"),
        ("write", "dd, 256 MiB in one file"),
    ];
    for (work, name) in works {
        let times = ["plain", "confined", "layer", "changes"].map(|way| find(&lines, work, way));
        let [Some(plain), Some(confined), Some(layer), Some(changes)] = times else { continue };
        let ratio = |times: &Samples| times.median() / plain.median();
        println!(
            "{name:<46} {:>8.1} {:>10.1} {:>6.2}x {:>10.1} {:>6.2}x {:>9.1}",
            plain.median(),
            confined.median(),
            ratio(&confined),
            layer.median(),
            ratio(&layer),
            changes.median()
        );
    }
    Ok(())
}
