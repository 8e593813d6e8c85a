//! The worker by itself, for this crate's tests: the product is its own worker.

fn main() {
    gatewright_query::main_if_asked();
    std::process::exit(2);
}
