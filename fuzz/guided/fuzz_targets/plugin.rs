//! `plugin`, guided by coverage.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gatewright_fuzz::plugin(data));
