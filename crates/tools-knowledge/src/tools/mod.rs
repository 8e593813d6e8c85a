//! One tool, one file.

pub mod add_note;
pub mod execute_skill;
pub mod find_patterns;
pub mod get_blockers;
pub mod get_compression_ratio;
pub mod get_decisions;
pub mod get_hypotheses;
pub mod get_pattern_reuse;
pub mod get_session_code;
pub mod index_pattern_library;
pub mod load_session;
pub mod load_skill;
pub mod promote_pattern;
pub mod search_artifacts;
pub mod search_patterns;
pub mod track_pattern_usage;
