//! The ledger as one HTML page.
