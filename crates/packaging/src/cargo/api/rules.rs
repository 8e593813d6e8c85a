//! Which change of an item asks for which release
//! ([SemVer Compatibility](https://doc.rust-lang.org/cargo/reference/semver.html)).

use std::collections::{BTreeMap, BTreeSet};

use super::shape::{Form, Function, Member, Parameters, Record, Shape};
use super::signature::{Signature, loose};
use crate::version::Bump;

/// A change and what it asks for; nothing, where that cannot be told.
pub(super) type Found = Vec<(Bump, String)>;

const DEPRECATED: &str = "it is deprecated now";

/// Signatures of two releases as text that can be compared.
pub(super) struct Names<'n> {
    pub(super) before: &'n dyn Fn(usize) -> String,
    pub(super) after: &'n dyn Fn(usize) -> String,
}

impl Names<'_> {
    pub(super) fn was(&self, signature: &Signature) -> String {
        signature.say(self.before)
    }

    pub(super) fn is(&self, signature: &Signature) -> String {
        signature.say(self.after)
    }

    fn sets(
        &self,
        before: &BTreeSet<Signature>,
        after: &BTreeSet<Signature>,
    ) -> (BTreeSet<String>, BTreeSet<String>) {
        (before.iter().map(|s| self.was(s)).collect(), after.iter().map(|s| self.is(s)).collect())
    }

    /// All that is different of two items of one name.
    pub(super) fn shapes(&self, before: &Shape, after: &Shape) -> Found {
        let mut found = Vec::new();
        match (before, after) {
            (Shape::Module, Shape::Module) => {}
            (Shape::Elsewhere(was), Shape::Elsewhere(is)) | (Shape::Alias(was), Shape::Alias(is)) => {
                if was != is {
                    found.push((Bump::Major, format!("it was {was} and is {is}")));
                }
            }
            (Shape::Function(was), Shape::Function(is)) => self.functions(was, is, &mut found),
            (
                Shape::Record { parameters: p1, record: r1, is_union: u1, repr: repr1 },
                Shape::Record { parameters: p2, record: r2, is_union: u2, repr: repr2 },
            ) => {
                if u1 != u2 {
                    found.push((Bump::Major, format!("{} is {} now", before.word(), after.word())));
                    return found;
                }
                self.parameters(p1, p2, false, &mut found);
                self.records("", r1, r2, &mut found);
                repr(repr1, repr2, &mut found);
            }
            (
                Shape::Enum { parameters: p1, variants: v1, non_exhaustive: n1, repr: repr1 },
                Shape::Enum { parameters: p2, variants: v2, non_exhaustive: n2, repr: repr2 },
            ) => {
                self.parameters(p1, p2, false, &mut found);
                repr(repr1, repr2, &mut found);
                self.variants((v1, *n1), (v2, *n2), &mut found);
            }
            (
                Shape::Trait { parameters: p1, above: a1, is_unsafe: u1, is_sealed: s1, members: m1 },
                Shape::Trait { parameters: p2, above: a2, is_unsafe: u2, is_sealed: s2, members: m2 },
            ) => {
                self.parameters(p1, p2, false, &mut found);
                if u1 != u2 {
                    found.push((Bump::Major, "whether it is unsafe to implement changed".to_owned()));
                }
                if !s1 && *s2 {
                    found.push((Bump::Major, "nobody else can implement it any more".to_owned()));
                }
                let (was, is) = self.sets(a1, a2);
                for bound in was.difference(&is) {
                    found.push((
                        Bump::Major,
                        format!("it no longer asks for {bound}, which users could rely on"),
                    ));
                }
                for bound in is.difference(&was) {
                    let bump = if *s1 { Bump::Minor } else { Bump::Major };
                    found.push((bump, format!("it asks for {bound} as well")));
                }
                self.members((m1, *s1), m2, &mut found);
            }
            (
                Shape::Plain { word: w1, parameters: p1, text: t1 },
                Shape::Plain { word: w2, parameters: p2, text: t2 },
            ) if w1 == w2 => {
                self.parameters(p1, p2, false, &mut found);
                let (was, is) = (self.was(t1), self.is(t2));
                if was != is {
                    found.push((Bump::Major, format!("it was `{was}` and is `{is}`")));
                }
            }
            (Shape::ProcMacro(was), Shape::ProcMacro(is)) if was == is => {}
            (Shape::Macro(_), Shape::Macro(_)) => {}
            // A re-export of another crate's that became an item of its own, and the other way round.
            (was, is) => found.push((Bump::Major, format!("{} is {} now", was.word(), is.word()))),
        }
        found
    }

    /// The variants of an enum; whether each of the two is non-exhaustive.
    fn variants(
        &self,
        (v1, n1): (&BTreeMap<String, (Record, Option<String>)>, bool),
        (v2, n2): (&BTreeMap<String, (Record, Option<String>)>, bool),
        found: &mut Found,
    ) {
        if !n1 && n2 {
            found.push((Bump::Major, "#[non_exhaustive] is new: matches need a last arm".to_owned()));
        } else if n1 && !n2 {
            found.push((Bump::Minor, "#[non_exhaustive] is gone".to_owned()));
        }
        for (name, (was, number)) in v1 {
            match v2.get(name) {
                None => found.push((Bump::Major, format!("the variant {name} is gone"))),
                Some((is, after)) => {
                    self.records(&format!("the variant {name}: "), was, is, found);
                    if number.is_some() && after.is_some() && number != after {
                        found.push((Bump::Major, format!("the variant {name} has another number")));
                    }
                }
            }
        }
        for name in v2.keys().filter(|name| !v1.contains_key(*name)) {
            let bump = if n1 { Bump::Minor } else { Bump::Major };
            found.push((bump, format!("the variant {name} is new")));
        }
    }

    /// What a trait holds; whether nobody else could implement it.
    fn members(
        &self,
        (m1, s1): (&BTreeMap<String, Member>, bool),
        m2: &BTreeMap<String, Member>,
        found: &mut Found,
    ) {
        let fitted = m1.values().all(|m| m.fits_objects);
        for (name, was) in m1 {
            match m2.get(name) {
                None => found.push((Bump::Major, format!("{name} is gone"))),
                Some(is) => {
                    for (bump, why) in self.shapes(&was.what, &is.what) {
                        // Whoever implements it must write it as it is declared: looser is another, too.
                        // What cannot be told, or only warns, is for them what it is for everybody.
                        let is_hint = bump == Bump::None || why == DEPRECATED;
                        let bump = if s1 || is_hint { bump } else { Bump::Major };
                        found.push((bump, format!("{name}: {why}")));
                    }
                    if was.has_default && !is.has_default && !s1 {
                        found.push((Bump::Major, format!("{name} must be implemented now")));
                    } else if !was.has_default && is.has_default {
                        found.push((Bump::Minor, format!("{name} can be left out now")));
                    }
                }
            }
        }
        for (name, is) in m2.iter().filter(|(name, _)| !m1.contains_key(*name)) {
            let (bump, why) = if s1 {
                (Bump::Minor, "is new")
            } else if !is.has_default {
                (Bump::Major, "is new and must be implemented")
            } else if fitted && !is.fits_objects {
                (Bump::Major, "is new and ends its use as a trait object")
            } else {
                (Bump::Minor, "is new and can be left out")
            };
            found.push((bump, format!("{name} {why}")));
        }
    }

    fn functions(&self, before: &Function, after: &Function, found: &mut Found) {
        let all = |f: &Function, say: &dyn Fn(&Signature) -> String| -> Vec<String> {
            f.inputs.iter().chain([&f.output]).map(say).collect()
        };
        let (was, is) = (all(before, &|s| self.was(s)), all(after, &|s| self.is(s)));
        if (was != is || before.parameters.lifetimes != after.parameters.lifetimes)
            && was.iter().map(|t| loose(t)).eq(is.iter().map(|t| loose(t)))
        {
            found.push((
                Bump::None,
                "its lifetimes are written otherwise: whether it takes the same is not known".to_owned(),
            ));
            self.qualities(before, after, found);
            return;
        }
        let mut major = |why: String| found.push((Bump::Major, why));
        if before.inputs.len() == after.inputs.len() {
            for (at, (was, is)) in before.inputs.iter().zip(&after.inputs).enumerate() {
                let (was, is) = (self.was(was), self.is(is));
                if was != is {
                    major(format!("parameter {} was `{was}` and is `{is}`", at + 1));
                }
            }
        } else {
            major(format!("it took {} parameters and takes {}", before.inputs.len(), after.inputs.len()));
        }
        let (was, is) = (self.was(&before.output), self.is(&after.output));
        if was != is {
            major(format!("it returned `{was}` and returns `{is}`"));
        }
        if before.parameters.lifetimes != after.parameters.lifetimes {
            major(format!(
                "it had {} lifetimes and has {}",
                before.parameters.lifetimes, after.parameters.lifetimes
            ));
        }
        self.qualities(before, after, found);
    }

    /// What is said of a function beside its types.
    fn qualities(&self, before: &Function, after: &Function, found: &mut Found) {
        let mut major = |why: String| found.push((Bump::Major, why));
        let of =
            |f: &Function, say: &dyn Fn(&Signature) -> String| f.of.as_ref().map(say).unwrap_or_default();
        let (was, is) = (of(before, &|s| self.was(s)), of(after, &|s| self.is(s)));
        if loose(&was) != loose(&is) {
            major(format!("it was of `{was}` and is of `{is}`"));
        }
        if before.is_async != after.is_async {
            major(format!("it is {} async", if after.is_async { "now" } else { "no longer" }));
        }
        if before.abi != after.abi || before.variadic != after.variadic {
            major("it has another ABI".to_owned());
        }
        if before.is_const && !after.is_const {
            major("it is no longer const".to_owned());
        }
        if !before.is_unsafe && after.is_unsafe {
            major("it is unsafe now".to_owned());
        }
        self.parameters(&before.parameters, &after.parameters, true, found);
        let mut minor = |why: &str| found.push((Bump::Minor, why.to_owned()));
        if before.is_unsafe && !after.is_unsafe {
            minor("it is no longer unsafe");
        }
        if !before.is_const && after.is_const {
            minor("it is const now");
        }
        if !before.deprecated && after.deprecated {
            minor(DEPRECATED);
        }
    }

    fn parameters(&self, before: &Parameters, after: &Parameters, of_function: bool, found: &mut Found) {
        if !of_function && before.lifetimes != after.lifetimes {
            found.push((
                Bump::Major,
                format!("it had {} lifetimes and has {}", before.lifetimes, after.lifetimes),
            ));
        }
        for (at, (was, is)) in before.others.iter().zip(&after.others).enumerate() {
            let kind = (was.0.as_ref().map(|s| self.was(s)), is.0.as_ref().map(|s| self.is(s)));
            if kind.0 != kind.1 {
                found.push((Bump::Major, format!("its generic parameter {} is of another kind", at + 1)));
            }
            match (was.1.as_ref().map(|s| self.was(s)), is.1.as_ref().map(|s| self.is(s))) {
                (None, Some(_)) => {
                    found.push((Bump::Minor, format!("its parameter T{at} has a default now")));
                }
                (Some(_), None) => {
                    found.push((Bump::Major, format!("its parameter T{at} has no default any more")));
                }
                (Some(was), Some(is)) if was != is => {
                    found.push((
                        Bump::Major,
                        format!("its parameter T{at} was `{was}` by default and is `{is}`"),
                    ));
                }
                _ => {}
            }
        }
        let (had, has) = (before.others.len(), after.others.len());
        if has < had {
            found.push((Bump::Major, format!("it had {had} generic parameters and has {has}")));
        } else if has > had {
            let defaulted = after.others.iter().skip(had).all(|p| p.1.is_some());
            let bump = if of_function || defaulted { Bump::Minor } else { Bump::Major };
            found.push((bump, format!("it had {had} generic parameters and has {has}")));
        }
        let (was, is) = self.sets(&before.bounds, &after.bounds);
        let is_loose = |bound: &str| bound.contains(":?");
        for bound in is.difference(&was) {
            // What is asked of a parameter that is new is part of that.
            let new = (had..has).any(|at| bound.starts_with(&format!("T{at}:")));
            if is_loose(bound) {
                found.push((Bump::Minor, format!("it takes what is unsized: `{bound}`")));
            } else if !new {
                found.push((Bump::Major, format!("it asks for more: `{bound}`")));
            }
        }
        for bound in was.difference(&is) {
            if is_loose(bound) {
                found.push((Bump::Major, format!("it no longer takes what is unsized: `{bound}`")));
            } else {
                found.push((Bump::Minor, format!("it asks for less: `{bound}`")));
            }
        }
    }

    /// Fields of a structure or a variant.
    fn records(&self, of: &str, before: &Record, after: &Record, found: &mut Found) {
        if before.form != after.form {
            let closed = |r: &Record| r.public.is_empty() && (r.private > 0 || r.non_exhaustive);
            let bump = if closed(before) && closed(after) { Bump::Minor } else { Bump::Major };
            found.push((bump, format!("{of}its fields are {} now", form(after.form))));
            return;
        }
        let was_open = before.private == 0 && !before.non_exhaustive;
        for (name, was) in &before.public {
            match after.public.get(name) {
                None => found.push((Bump::Major, format!("{of}the field {name} is gone, or private now"))),
                Some(is) => {
                    let (was, is) = (self.was(was), self.is(is));
                    if was != is {
                        found.push((Bump::Major, format!("{of}the field {name} was `{was}` and is `{is}`")));
                    }
                }
            }
        }
        for name in after.public.keys().filter(|name| !before.public.contains_key(*name)) {
            let bump = if was_open { Bump::Major } else { Bump::Minor };
            found.push((bump, format!("{of}the field {name} is new")));
        }
        if was_open && after.private > 0 {
            found.push((Bump::Major, format!("{of}it has private fields now: nobody else can make one")));
        }
        if was_open && after.private == 0 && after.non_exhaustive {
            found.push((Bump::Major, format!("{of}#[non_exhaustive] is new: nobody else can make one")));
        }
        if before.non_exhaustive && !after.non_exhaustive {
            found.push((Bump::Minor, format!("{of}#[non_exhaustive] is gone")));
        }
    }
}

const fn form(form: Form) -> &'static str {
    match form {
        Form::Named => "named",
        Form::Tuple => "a tuple",
        Form::Unit => "none",
    }
}

fn repr(before: &BTreeSet<String>, after: &BTreeSet<String>, found: &mut Found) {
    if before == after {
        return;
    }
    let is_size = |r: &&String| r.starts_with("packed") || r.starts_with("align");
    let text = |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let lost = before.difference(after).next().is_some();
    let felt = after.difference(before).any(|r| is_size(&r)) || before.iter().any(|r| !is_size(&r));
    // On the compiler's own layout nobody may rely, so that giving one of C's is an addition.
    let bump = if lost || felt { Bump::Major } else { Bump::Minor };
    found.push((bump, format!("its layout was repr({}) and is repr({})", text(before), text(after))));
}
