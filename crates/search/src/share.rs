//! Which processor goes through which documents.

use std::num::NonZero;
use std::ops::Range;
use std::sync::OnceLock;

use crate::bytes::place;
use crate::scan::BLOCK;

/// More help little: what they read comes from the same memory.
const MOST: u32 = 4;

/// Fewest blocks of a share: to go through them takes several times as long as to start a thread.
const FEWEST: u32 = 4;

/// How many there are for a question.
pub(crate) fn workers() -> u32 {
    static THERE: OnceLock<u32> = OnceLock::new();
    // Asked once: the limits of a container are looked up in files.
    *THERE.get_or_init(|| {
        let there = std::thread::available_parallelism().map_or(1, NonZero::get);
        u32::try_from(there).map_or(MOST, |there| there.min(MOST))
    })
}

/// Shares for so many workers, of about the same length, that begin where blocks do; one where there is little to do.
pub(crate) fn shares(documents: u32, workers: u32) -> Vec<Range<u32>> {
    let many = workers.min(documents / (BLOCK * FEWEST)).max(1);
    let length = documents.div_ceil(many).next_multiple_of(BLOCK).max(BLOCK);
    let starts = (0..documents).step_by(place(length));
    starts.map(|start| start..start.saturating_add(length).min(documents)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn little_is_not_shared_out() {
        assert_eq!(shares(0, 2), []);
        let all = |end| std::slice::from_ref(&(0..end)).to_vec();
        assert_eq!(shares(10_000, 4), all(10_000));
        assert_eq!(shares(8 * BLOCK - 1, 4), all(8 * BLOCK - 1));
        assert_eq!(shares(8 * BLOCK, 4), [0..4 * BLOCK, 4 * BLOCK..8 * BLOCK]);
        assert_eq!(shares(1_000_000, 2).len(), 2);
    }

    proptest! {
        #[test]
        fn shares_are_all_documents_in_order(documents in 0u32..5_000_000, workers in 1u32..9) {
            let (mut next, shares) = (0, shares(documents, workers));
            for share in &shares {
                prop_assert!(share.start == next && share.start % BLOCK == 0 && share.end > share.start);
                next = share.end;
            }
            prop_assert!(next == documents && shares.len() <= place(workers));
        }
    }
}
