//! The launcher alone, for this crate's tests.

fn main() {
    exec::run::main_if_asked();
    std::process::exit(2);
}
