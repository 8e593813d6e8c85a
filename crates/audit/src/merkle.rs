//! The Merkle tree over all records (RFC 9162 §2.1): roots, inclusion and consistency proofs.

use contract::Digest;
use serde::{Deserialize, Serialize};

/// The hash of a leaf: `SHA-256(0x00 || entry)`.
#[must_use]
pub fn leaf(entry: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], entry])
}

fn node(left: &Digest, right: &Digest) -> Digest {
    Digest::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// The roots of the perfect subtrees that a tree of some size consists of, largest first: enough to go on appending.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Frontier {
    size: u64,
    nodes: Vec<Digest>,
}

impl Frontier {
    /// The frontier of a tree with `size` leaves; `None` when the number of nodes does not fit the size.
    #[must_use]
    pub fn new(size: u64, nodes: Vec<Digest>) -> Option<Self> {
        (nodes.len() == size.count_ones() as usize).then_some(Self { size, nodes })
    }

    /// How many leaves.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The subtree roots, largest first.
    #[must_use]
    pub fn nodes(&self) -> &[Digest] {
        &self.nodes
    }

    /// Appends a leaf.
    pub fn push(&mut self, leaf: Digest) {
        let mut carried = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.nodes.pop() {
                carried = node(&left, &carried);
            }
        }
        self.nodes.push(carried);
        self.size += 1;
    }

    /// The root; of the empty tree, the digest of nothing.
    #[must_use]
    pub fn root(&self) -> Digest {
        let mut nodes = self.nodes.iter().rev();
        nodes
            .next()
            .map_or_else(|| Digest::of(b""), |last| nodes.fold(*last, |right, left| node(left, &right)))
    }
}

/// The root of the tree over `leaves`.
#[must_use]
pub fn root(leaves: &[Digest]) -> Digest {
    let mut frontier = Frontier::default();
    for leaf in leaves {
        frontier.push(*leaf);
    }
    frontier.root()
}

/// The largest power of two below `n` (for `n` > 1).
fn split(n: usize) -> usize {
    n.next_power_of_two() / 2
}

/// The audit path of leaf `index` in the tree over `leaves` (RFC 9162 §2.1.3.1).
#[must_use]
pub fn inclusion(index: usize, leaves: &[Digest]) -> Vec<Digest> {
    if leaves.len() <= 1 || index >= leaves.len() {
        return Vec::new();
    }
    let k = split(leaves.len());
    let (mut path, sibling) = if index < k {
        (inclusion(index, &leaves[..k]), root(&leaves[k..]))
    } else {
        (inclusion(index - k, &leaves[k..]), root(&leaves[..k]))
    };
    path.push(sibling);
    path
}

/// Whether `path` proves that `leaf` is number `index` of `size` leaves under `root` (RFC 9162 §2.1.3.2).
#[must_use]
pub fn verify_inclusion(leaf: Digest, index: u64, size: u64, path: &[Digest], root: Digest) -> bool {
    if index >= size {
        return false;
    }
    let (mut position, mut last, mut hash) = (index, size - 1, leaf);
    for sibling in path {
        if last == 0 {
            return false;
        }
        if position & 1 == 1 || position == last {
            hash = node(sibling, &hash);
            while position & 1 == 0 && position != 0 {
                position >>= 1;
                last >>= 1;
            }
        } else {
            hash = node(&hash, sibling);
        }
        position >>= 1;
        last >>= 1;
    }
    last == 0 && hash == root
}

/// The proof that the tree over the first `old` leaves is a prefix of the tree over all (RFC 9162 §2.1.4.1).
#[must_use]
pub fn consistency(old: usize, leaves: &[Digest]) -> Vec<Digest> {
    fn subproof(old: usize, leaves: &[Digest], whole: bool) -> Vec<Digest> {
        if old == leaves.len() {
            return if whole { Vec::new() } else { vec![root(leaves)] };
        }
        let k = split(leaves.len());
        if old <= k {
            let mut path = subproof(old, &leaves[..k], whole);
            path.push(root(&leaves[k..]));
            path
        } else {
            let mut path = subproof(old - k, &leaves[k..], false);
            path.push(root(&leaves[..k]));
            path
        }
    }
    if old == 0 || old > leaves.len() { Vec::new() } else { subproof(old, leaves, true) }
}

/// Whether `path` proves that the tree of `old_size` under `old_root` is a prefix of that of `new_size` under
/// `new_root` (RFC 9162 §2.1.4.2).
#[must_use]
pub fn verify_consistency(old: (u64, Digest), new: (u64, Digest), path: &[Digest]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size == new_size {
        return path.is_empty() && old_root == new_root;
    }
    if old_size == 0 || old_size > new_size {
        return false;
    }
    let mut path = path.iter();
    let first = if old_size.is_power_of_two() { Some(&old_root) } else { path.next() };
    let Some(first) = first else { return false };
    let (mut position, mut last) = (old_size - 1, new_size - 1);
    while position & 1 == 1 {
        position >>= 1;
        last >>= 1;
    }
    let (mut from_old, mut from_new) = (*first, *first);
    for sibling in path {
        if last == 0 {
            return false;
        }
        if position & 1 == 1 || position == last {
            from_old = node(sibling, &from_old);
            from_new = node(sibling, &from_new);
            while position & 1 == 0 && position != 0 {
                position >>= 1;
                last >>= 1;
            }
        } else {
            from_new = node(&from_new, sibling);
        }
        position >>= 1;
        last >>= 1;
    }
    last == 0 && from_old == old_root && from_new == new_root
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leaves(n: usize) -> Vec<Digest> {
        (0..n).map(|i| leaf(&i.to_be_bytes())).collect()
    }

    /// The definition of RFC 9162 §2.1.1, straight.
    fn by_definition(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => Digest::of(b""),
            [one] => *one,
            _ => {
                let (left, right) = leaves.split_at(split(leaves.len()));
                node(&by_definition(left), &by_definition(right))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_frontier_computes_the_defined_root(n in 0usize..80) {
            prop_assert_eq!(root(&leaves(n)), by_definition(&leaves(n)));
        }

        #[test]
        fn inclusion_holds_for_the_leaf_and_for_no_other(n in 1usize..70, i in 0usize..70) {
            let i = i % n;
            let all = leaves(n);
            let path = inclusion(i, &all);
            let (size, at) = (n as u64, i as u64);
            prop_assert!(verify_inclusion(all[i], at, size, &path, root(&all)));
            prop_assert!(!verify_inclusion(leaf(b"other"), at, size, &path, root(&all)));
            if n > 1 {
                prop_assert!(!verify_inclusion(all[i], (at + 1) % size, size, &path, root(&all)));
                prop_assert!(!verify_inclusion(all[i], at, size, &path[1..], root(&all)));
            }
        }

        #[test]
        fn consistency_holds_for_a_prefix_and_for_nothing_else(n in 1usize..70, old in 1usize..70) {
            let old = 1 + old % n;
            let all = leaves(n);
            let path = consistency(old, &all);
            let new = (n as u64, root(&all));
            let before = (old as u64, root(&all[..old]));
            prop_assert!(verify_consistency(before, new, &path));
            prop_assert!(!verify_consistency((before.0, leaf(b"x")), new, &path));
            let mut forged = all.clone();
            forged[old - 1] = leaf(b"forged");
            prop_assert!(!verify_consistency(before, (new.0, root(&forged)), &consistency(old, &forged)));
        }
    }
}
