//! Private data, words of strangers, and a way out: two of them are work, all three are a leak. A session that has seen
//! the first two needs a person's word for the third. Deterministic, and nothing is looked at but what calls are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a call brings into a session, or takes out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// It shows what is not for everyone: files, stores, the user's own servers.
    Private,
    /// What it shows was written by anybody: pages, other servers' answers.
    Untrusted,
    /// It tells somebody outside.
    Egress,
}

/// What a session has seen so far: of each label, the tool that brought it first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(BTreeMap<Label, String>);

impl Seen {
    /// Why a call with these labels needs a person's word; none where it does not. What the call itself brings counts for the
    /// next one: nothing is stopped within one call.
    #[must_use]
    pub fn asks(&self, labels: &[Label]) -> Option<String> {
        let (private, untrusted) = (self.0.get(&Label::Private)?, self.0.get(&Label::Untrusted)?);
        labels.contains(&Label::Egress).then(|| {
            format!("taint: {private} showed private data, {untrusted} showed words of others, and this tells somebody outside")
        })
    }

    /// Notes a call that was made.
    pub fn saw(&mut self, tool: &str, labels: &[Label]) {
        for label in labels.iter().filter(|label| **label != Label::Egress) {
            self.0.entry(*label).or_insert_with(|| tool.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m26_a_session_that_saw_private_data_and_words_of_others_asks_before_it_tells() {
        use Label::{Egress, Private, Untrusted};
        let mut seen = Seen::default();
        assert_eq!(seen.asks(&[Egress]), None);
        seen.saw("read_file", &[Private]);
        assert_eq!(seen.asks(&[Egress]), None, "words of one's own");
        // Its own words come back with it: they count from the next call on.
        assert_eq!(seen.asks(&[Untrusted, Egress]), None);
        seen.saw("web__get", &[Untrusted, Egress]);
        let why = seen.asks(&[Untrusted, Egress]).unwrap();
        assert!(why.contains("read_file") && why.contains("web__get"), "{why}");
        assert_eq!(seen.asks(&[Private, Untrusted]), None, "looking is free");
        // The first of each is named, in whichever order they came.
        let mut other = Seen::default();
        other.saw("web__get", &[Untrusted, Egress]);
        other.saw("read_file", &[Private]);
        other.saw("read_more", &[Private]);
        assert_eq!(other.asks(&[Egress]), Some(why));
    }
}
