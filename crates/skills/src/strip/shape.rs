//! Whether what comes out is the same program: the trees of before and after, held against each other.
//!
//! Spaces can change what binds to what: `a + b as T * c` multiplies the sum, `a + b * c` does not. Both have the same tokens
//! in the same order; so when their trees have the same nodes in the same order and depth, they are the same program.

use oxc_ast::AstKind;

/// Nodes as they are entered and left, types apart.
#[derive(Default)]
pub(crate) struct Shape(Vec<(u8, u32)>);

/// That a node is left.
const LEAVE: u8 = u8::MAX;

impl Shape {
    pub(crate) fn enter(&mut self, kind: AstKind<'_>) {
        // Semicolons are written where a type was, and stay where one was that had one.
        if !matches!(kind, AstKind::EmptyStatement(_)) {
            self.0.push((kind.ty() as u8, oxc_span::GetSpan::span(&kind).start));
        }
    }

    pub(crate) fn leave(&mut self, kind: AstKind<'_>) {
        if !matches!(kind, AstKind::EmptyStatement(_)) {
            self.0.push((LEAVE, 0));
        }
    }

    /// Where the first node is that is another in `after`.
    pub(crate) fn differs(&self, after: &Self) -> Option<usize> {
        let same = |(before, after): (&(u8, u32), &(u8, u32))| before.0 == after.0;
        let common = self.0.iter().zip(&after.0).take_while(|pair| same(*pair)).count();
        if common == self.0.len() && common == after.0.len() {
            return None;
        }
        let begun = self.0.get(..=common).unwrap_or(&self.0);
        Some(begun.iter().rev().find(|(kind, _)| *kind != LEAVE).map_or(0, |(_, start)| *start as usize))
    }
}
