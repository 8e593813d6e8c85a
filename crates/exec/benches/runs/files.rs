//! Reading and writing files: the same program plainly, confined in the root itself, and over a layer.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::say;
use super::ways::{Ground, layered, proposed};

/// Counted rounds; one more goes before.
const ROUNDS: usize = 5;

const FOLDERS: usize = 40;
const FILES: usize = 100;
const BYTES: usize = 4_096;

/// Name, script, and how what it leaves in the root is taken away again.
const WORKS: [(&str, &str, &str); 4] = [
    ("copy", "cp -r src copied", "rm -rf copied"),
    ("read", "for i in 1 2 3 4; do grep -rc missing src >/dev/null; done; true", "true"),
    (
        "rewrite",
        "find src/f0* -type f -exec sed -i s/line/LINE/ {} +",
        "find src/f0* -type f -exec sed -i s/LINE/line/ {} +",
    ),
    ("write", "dd if=/dev/zero of=large bs=1M count=256 2>/dev/null", "rm -f large"),
];

pub(crate) fn measure() {
    let Some(ground) = Ground::new() else { return };
    tree(&ground);
    for (name, script, undo) in WORKS {
        let words: [&'static str; 3] = ["sh", "-c", script];
        let spec = ground.spec(&words);
        let mut times: [Vec<Duration>; 4] = Default::default();
        for round in 0..=ROUNDS {
            let measured = |work: &dyn Fn()| {
                let began = Instant::now();
                work();
                began.elapsed()
            };
            let plain = measured(&|| ground.plain(&words));
            ground.plain(&["sh", "-c", undo]);
            let confined = measured(&|| Ground::confined(&spec));
            ground.plain(&["sh", "-c", undo]);
            let workshop = ground.workshop();
            let layer = measured(&|| layered(&workshop, &words));
            // The large file is more than a plan may hold; it is looked at all the same.
            let changes = measured(&|| _ = proposed(&ground, &workshop));
            if round > 0 {
                for (times, took) in times.iter_mut().zip([plain, confined, layer, changes]) {
                    times.push(took);
                }
            }
        }
        for (way, times) in ["plain", "confined", "layer", "changes"].iter().zip(&times) {
            say("files", name, way, times);
        }
    }
}

/// Four thousand files of text in forty folders.
fn tree(ground: &Ground) {
    for folder in 0..FOLDERS {
        let place = ground.top().join(format!("src/f{folder:02}"));
        std::fs::create_dir_all(&place).unwrap();
        for file in 0..FILES {
            let mut text = String::new();
            let mut number = 0;
            while text.len() < BYTES {
                writeln!(text, "line {number} of file {file} in folder {folder}").unwrap();
                number += 1;
            }
            std::fs::write(place.join(format!("{file:03}.txt")), &text[..BYTES]).unwrap();
        }
    }
}
