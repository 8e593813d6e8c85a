//! PostgreSQL alone.
