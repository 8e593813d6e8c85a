//! How good answers are: recall, the mean reciprocal rank and the discounted gain, over documents that somebody graded.

use std::collections::BTreeMap;

/// What somebody holds of the documents for one question: 0 or absent no answer, 1 to 3 better and better ones.
pub type Grades = BTreeMap<String, u8>;

/// What part of the answers (grade 1 and better) is among the first `k`; 0 when there is none.
#[must_use]
pub fn recall<S: AsRef<str>>(found: &[S], grades: &Grades, k: usize) -> f64 {
    let answers = grades.values().filter(|grade| **grade > 0).count();
    let among = distinct(found).take(k).filter(|id| grade(grades, id) > 0).count();
    if answers == 0 { 0.0 } else { ratio(among, answers) }
}

/// One by the place of the first answer among the first `k`; 0 when there is none.
#[must_use]
pub fn reciprocal_rank<S: AsRef<str>>(found: &[S], grades: &Grades, k: usize) -> f64 {
    let first = distinct(found).take(k).position(|id| grade(grades, id) > 0);
    first.map_or(0.0, |at| ratio(1, at + 1))
}

/// The gain `2^grade − 1` of the first `k`, less the later it comes (by `log₂(place + 1)`), as a part of the best that
/// could be had; 0 when there is no answer.
#[must_use]
pub fn ndcg<S: AsRef<str>>(found: &[S], grades: &Grades, k: usize) -> f64 {
    let gain = |(at, grade): (usize, u8)| (f64::from(grade.min(30)).exp2() - 1.0) / (ratio(at + 2, 1)).log2();
    let had: f64 = distinct(found).take(k).map(|id| grade(grades, id)).enumerate().map(gain).sum();
    let mut best: Vec<u8> = grades.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let best: f64 = best.into_iter().take(k).enumerate().map(gain).sum();
    if best > 0.0 { had / best } else { 0.0 }
}

fn grade(grades: &Grades, id: &str) -> u8 {
    grades.get(id).copied().unwrap_or(0)
}

/// Each id once, where it comes first: saying one twice earns nothing.
fn distinct<S: AsRef<str>>(found: &[S]) -> impl Iterator<Item = &str> {
    let mut seen = std::collections::BTreeSet::new();
    found.iter().map(AsRef::as_ref).filter(move |id| seen.insert(*id))
}

fn ratio(a: usize, b: usize) -> f64 {
    f64::from(crate::bytes::small(a)) / f64::from(crate::bytes::small(b))
}

/// The means of many questions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Scores {
    /// How many questions.
    pub questions: u32,
    /// Mean of [`recall`] among the first 1, 5 and 10.
    pub recall: [f64; 3],
    /// Mean of [`reciprocal_rank`] among the first 10.
    pub mrr: f64,
    /// Mean of [`ndcg`] of the first 10.
    pub ndcg: f64,
}

impl Scores {
    /// Adds what was found for one question.
    pub fn add<S: AsRef<str>>(&mut self, found: &[S], grades: &Grades) {
        let before = f64::from(self.questions);
        self.questions += 1;
        let mean = |mean: f64, new: f64| mean + (new - mean) / (before + 1.0);
        for (of_k, k) in self.recall.iter_mut().zip([1, 5, 10]) {
            *of_k = mean(*of_k, recall(found, grades, k));
        }
        self.mrr = mean(self.mrr, reciprocal_rank(found, grades, 10));
        self.ndcg = mean(self.ndcg, ndcg(found, grades, 10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grades(of: &[(&str, u8)]) -> Grades {
        of.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect()
    }

    fn is(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn measures_are_what_they_are_defined_as() {
        let grades = grades(&[("a", 3), ("b", 1), ("c", 0)]);
        is(recall(&["c", "a", "x"], &grades, 1), 0.0);
        is(recall(&["c", "a", "x"], &grades, 2), 0.5);
        is(recall(&["c", "a", "b"], &grades, 3), 1.0);
        is(reciprocal_rank(&["c", "x", "b", "a"], &grades, 10), 1.0 / 3.0);
        is(reciprocal_rank(&["c", "x", "b"], &grades, 2), 0.0);
        is(ndcg(&["a", "b"], &grades, 10), 1.0);
        let best = 7.0 + 1.0 / 3f64.log2();
        is(ndcg(&["b", "a"], &grades, 10), (1.0 + 7.0 / 3f64.log2()) / best);
        is(ndcg(&["a", "a", "b"], &grades, 10), 1.0);
        is(ndcg::<&str>(&[], &grades, 10), 0.0);
    }

    #[test]
    fn without_answers_everything_is_nothing() {
        let none = grades(&[("c", 0)]);
        is(recall(&["c"], &none, 10) + ndcg(&["c"], &none, 10) + reciprocal_rank(&["c"], &none, 10), 0.0);
    }

    #[test]
    fn means_are_taken_over_questions() {
        let (mut scores, grades) = (Scores::default(), grades(&[("a", 1)]));
        scores.add(&["a"], &grades);
        scores.add(&["x", "a"], &grades);
        is(scores.mrr, 0.75);
        is(scores.recall.iter().sum(), 2.5);
        assert_eq!(scores.questions, 2);
    }
}
