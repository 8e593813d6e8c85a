//! The launcher alone, for this crate's tests.

fn main() {
    launcher::main_if_asked();
    std::process::exit(2);
}
