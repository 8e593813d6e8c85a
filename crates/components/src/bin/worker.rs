//! The worker by itself, for this crate's tests and measurements: the product is its own worker.

fn main() {
    gatewright_components::main_if_asked();
    std::process::exit(2);
}
