//! Every target for a few seconds on mutated seeds, without a fuzzer.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::time::{Duration, Instant};

use gatewright_fuzz::TARGETS;

/// xorshift64*: enough to mutate with, the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).unwrap() % below.max(1)
    }
}

/// Words that a byte flip never finds.
const WORDS: [&[u8]; 12] = [
    b"{",
    b"}",
    b"[]",
    b"null",
    b"\"$value\"",
    b"\"$ref\":\"#/a\"",
    b"{a}",
    b"-1e308",
    b"\xff",
    b"\0",
    b"/../",
    b" * ",
];

fn mutated(seeds: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut data = seeds[random.next(seeds.len())].to_vec();
    for _ in 0..=random.next(6) {
        let at = random.next(data.len() + 1);
        match random.next(5) {
            0 => data.truncate(at),
            1 if at < data.len() => data[at] ^= 1 << random.next(8),
            2 => {
                let word = WORDS[random.next(WORDS.len())];
                data.splice(at..at, word.iter().copied());
            }
            3 => {
                let other = seeds[random.next(seeds.len())];
                let from = random.next(other.len() + 1);
                let to = from + random.next(other.len() - from + 1);
                data.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let to = (at + random.next(40)).min(data.len());
                data.drain(at..to);
            }
        }
    }
    data
}

#[test]
fn no_bytes_make_a_target_fail() {
    let each = std::env::var("GATEWRIGHT_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    std::thread::scope(|scope| {
        for target in TARGETS {
            scope.spawn(move || {
                let mut random = Random(0x9e37_79b9_7f4a_7c15);
                target.seeds.iter().for_each(|seed| (target.run)(seed));
                let until = Instant::now() + Duration::from_secs(each);
                while Instant::now() < until {
                    (target.run)(&mutated(target.seeds, &mut random));
                }
            });
        }
    });
}
