//! The launcher alone, for tests: it does nothing unless it is started as one.

fn main() {
    gatewright_launcher::main_if_asked();
    eprintln!("this starts programs for gatewright's tests, and nothing by itself");
    std::process::exit(2);
}
