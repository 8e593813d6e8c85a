//! Starting a program that does nothing.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::say;
use super::ways::{Ground, layered, proposed};

/// Counted rounds; a tenth of them more go before, so that everything is in memory.
const ROUNDS: usize = 200;

/// Before each start.
const PAUSE: Duration = Duration::from_millis(20);

const NOTHING: &[&str] = &["true"];

/// A way of starting it.
type Way<'a> = (&'static str, Box<dyn Fn() + 'a>);

pub(crate) fn measure() {
    let Some(ground) = Ground::new() else { return };
    let spec = ground.spec(NOTHING);
    let open = ground.workshop();
    let whole = || {
        let workshop = ground.workshop();
        layered(&workshop, NOTHING);
        assert_eq!(proposed(&ground, &workshop), 0);
    };
    let mut ways: Vec<Way<'_>> = vec![
        ("plain", Box::new(|| ground.plain(&["/bin/true"]))),
        ("start", Box::new(|| ground.started())),
        ("cold", Box::new(|| Ground::confined(&spec))),
        ("confined", Box::new(|| ground.begun(&spec))),
        ("layer", Box::new(|| layered(&open, NOTHING))),
        ("workshop", Box::new(whole)),
    ];
    if let Some(program) = bubblewrap() {
        let ground = &ground;
        ways.push(("bwrap", Box::new(move || ground.bubblewrap(&program, &["/bin/true"]))));
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for round in 0..ROUNDS + ROUNDS / 10 {
        for ((_, way), times) in ways.iter().zip(&mut times) {
            // Nobody's calls come closer together; meanwhile what one way left is taken down and the next launcher waits.
            std::thread::sleep(PAUSE);
            let began = Instant::now();
            way();
            let took = began.elapsed();
            if round >= ROUNDS / 10 {
                times.push(took);
            }
        }
    }
    for ((name, _), times) in ways.iter().zip(&times) {
        say("overhead", "true", name, times);
    }
}

fn bubblewrap() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join("bwrap")).find(|file| file.is_file())
}
