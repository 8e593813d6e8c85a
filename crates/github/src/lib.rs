//! Issues and pull requests of GitHub: how they are asked for and opened, and what the answer says. Both ways of asking (GitHub's own
//! program `gh`, and the REST API) send the same question and get the same answer; sending it is for others: there is no I/O here.
//!
//! Follows GitHub's REST API, version 2022-11-28: `GET /search/issues`
//! (<https://docs.github.com/rest/search/search#search-issues-and-pull-requests>), and of pull requests what [`Opening`] names.

mod answer;
mod pulls;
mod question;

pub use answer::{AnswerError, Found, Issue, read, refused};
pub use pulls::{
    MAX_BODY, MAX_TITLE, Opening, Pull, Sending, Standing, of_branch, onto, read_pulls, read_tip, tip,
};
pub use question::{MAX_SHOWN, Question, QuestionError, api};

/// The version of the API that questions are asked in.
pub const VERSION: &str = "2022-11-28";
