//! What items look like from outside.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Fields, FnArg, GenericParam, Generics, Item, ReturnType, Safety, TraitItem, TypeParamBound,
    WherePredicate,
};

use super::Error;
use super::attrs::{Attrs, plain};
use super::modules::is_public;
use super::signature::{Here, Piece, Signature, Writer};

/// Parameters of an item, and what is asked of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    pub(super) lifetimes: usize,
    /// Types and constants: of constants their type, and what they are if nothing is said.
    pub(super) others: Vec<(Option<Signature>, Option<Signature>)>,
    /// One for each bound: `T0: Clone`.
    pub(super) bounds: BTreeSet<Signature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) parameters: Parameters,
    pub(super) inputs: Vec<Signature>,
    pub(super) output: Signature,
    pub(super) is_const: bool,
    pub(super) is_async: bool,
    pub(super) is_unsafe: bool,
    pub(super) abi: Option<String>,
    pub(super) variadic: bool,
    /// Of a method: the type that it is of.
    pub(super) of: Option<Signature>,
    pub(super) deprecated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Named,
    Tuple,
    Unit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) form: Form,
    /// Public ones by name or place.
    pub(super) public: BTreeMap<String, Signature>,
    /// How many are private, or hidden from the documentation.
    pub(super) private: usize,
    pub(super) non_exhaustive: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) what: Shape,
    /// Whether implementations may leave it out.
    pub(super) has_default: bool,
    /// Whether a trait object can do without it, or with it.
    pub(super) fits_objects: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Module,
    /// The item is described where it has its shortest path.
    Alias(String),
    /// From another crate.
    Elsewhere(String),
    Function(Box<Function>),
    /// A structure or a union.
    Record {
        parameters: Parameters,
        record: Record,
        is_union: bool,
        repr: BTreeSet<String>,
    },
    Enum {
        parameters: Parameters,
        variants: BTreeMap<String, (Record, Option<String>)>,
        non_exhaustive: bool,
        repr: BTreeSet<String>,
    },
    Trait {
        parameters: Parameters,
        above: BTreeSet<Signature>,
        is_unsafe: bool,
        /// Whether nobody else can implement it: it asks for a trait that has no public path.
        is_sealed: bool,
        members: BTreeMap<String, Member>,
    },
    /// `type`, `const`, `static` and others that are what their text says.
    Plain {
        word: &'static str,
        parameters: Parameters,
        text: Signature,
    },
    /// `macro_rules!`: what it takes.
    Macro(Vec<String>),
    /// Of a procedural macro crate: a word for its kind.
    ProcMacro(&'static str),
}

impl Shape {
    /// The word for it.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Module => "the module",
            Self::Alias(_) | Self::Elsewhere(_) => "the re-export",
            Self::Function(_) => "the function",
            Self::Record { is_union: true, .. } => "the union",
            Self::Record { .. } => "the struct",
            Self::Enum { .. } => "the enum",
            Self::Trait { .. } => "the trait",
            Self::Plain { word, .. } => word,
            Self::Macro(_) | Self::ProcMacro(_) => "the macro",
        }
    }
}

impl Writer<'_, '_> {
    /// Takes parameters up, so that signatures below say `T0` for the first type whatever it is called.
    pub(super) fn parameters(
        &mut self,
        generics: &Generics,
        letter: char,
        here: &mut Here,
    ) -> Result<Parameters, Error> {
        let mut found = Parameters::default();
        for param in &generics.params {
            match param {
                GenericParam::Lifetime(l) => {
                    let label = format!("'{}{}", letter.to_ascii_lowercase(), found.lifetimes);
                    here.parameters.insert(l.lifetime.to_string(), label);
                    found.lifetimes += 1;
                }
                GenericParam::Type(t) => {
                    here.parameters.insert(t.ident.to_string(), format!("{letter}{}", found.others.len()));
                    found.others.push((None, None));
                }
                GenericParam::Const(c) => {
                    here.parameters.insert(c.ident.to_string(), format!("{letter}{}", found.others.len()));
                    found.others.push((Some(Signature::default()), None));
                }
            }
        }
        let mut others = Vec::new();
        for param in &generics.params {
            match param {
                GenericParam::Lifetime(l) => {
                    for bound in &l.bounds {
                        let bounded = self.of(&l.lifetime, here)?.then(&Signature::of(":"));
                        found.bounds.insert(bounded.then(&self.of(bound, here)?));
                    }
                }
                GenericParam::Type(t) => {
                    let bounded = self.of(&t.ident, here)?;
                    self.bounds(&bounded, t.bounds.iter(), here, &mut found.bounds)?;
                    let default = t.default.as_ref().map(|(_, ty)| self.of(ty, here)).transpose()?;
                    others.push((None, default));
                }
                GenericParam::Const(c) => {
                    let default = c.default.as_ref().map(|(_, value)| self.of(value, here)).transpose()?;
                    others.push((Some(self.of(&c.ty, here)?), default));
                }
            }
        }
        found.others = others;
        for predicate in generics.where_clause.iter().flat_map(|w| &w.predicates) {
            match predicate {
                WherePredicate::Lifetime(l) => {
                    for bound in &l.bounds {
                        let bounded = self.of(&l.lifetime, here)?.then(&Signature::of(":"));
                        found.bounds.insert(bounded.then(&self.of(bound, here)?));
                    }
                }
                WherePredicate::Type(t) => {
                    let mut bounded = self.of(&t.bounded_ty, here)?;
                    if let Some(lifetimes) = &t.lifetimes {
                        bounded = self.of(lifetimes, here)?.then(&bounded);
                    }
                    self.bounds(&bounded, t.bounds.iter(), here, &mut found.bounds)?;
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn bounds<'b>(
        &mut self,
        bounded: &Signature,
        bounds: impl Iterator<Item = &'b TypeParamBound>,
        here: &Here,
        into: &mut BTreeSet<Signature>,
    ) -> Result<(), Error> {
        for bound in bounds {
            into.insert(bounded.clone().then(&Signature::of(":")).then(&self.of(bound, here)?));
        }
        Ok(())
    }

    pub(super) fn function(
        &mut self,
        sig: &syn::Signature,
        attrs: &Attrs,
        here: &Here,
        of: Option<&Signature>,
        outer: Option<&Parameters>,
    ) -> Result<Shape, Error> {
        let mut here = here.clone();
        let mut parameters = self.parameters(&sig.generics, 'T', &mut here)?;
        if let Some(outer) = outer {
            parameters.bounds.extend(outer.bounds.iter().cloned());
        }
        let mut inputs = Vec::new();
        for input in &sig.inputs {
            inputs.push(match input {
                FnArg::Typed(typed) => self.of(&typed.ty, &here)?,
                FnArg::Receiver(receiver) => match &receiver.kind {
                    syn::ReceiverKind::Reference(_, lifetime, mutable) => {
                        let lifetime = lifetime.as_ref().map(|l| self.of(l, &here)).transpose()?;
                        let mut text = Signature::of("&").then(&lifetime.unwrap_or_default());
                        if mutable.is_some() {
                            text = text.then(&Signature::of("mut"));
                        }
                        text.then(&Signature::of("self"))
                    }
                    syn::ReceiverKind::Typed(_, ty) => Signature::of("self:").then(&self.of(ty, &here)?),
                    _ => Signature::of("self"),
                },
            });
        }
        let output = match &sig.output {
            ReturnType::Default => Signature::of("()"),
            ReturnType::Type(_, ty) => self.of(ty, &here)?,
        };
        Ok(Shape::Function(Box::new(Function {
            parameters,
            inputs,
            output,
            is_const: sig.constness.is_some(),
            is_async: sig.asyncness.is_some(),
            is_unsafe: matches!(sig.safety, Safety::Unsafe(_)),
            abi: sig
                .abi
                .as_ref()
                .map(|abi| abi.name.as_ref().map_or_else(|| "C".to_owned(), syn::LitStr::value)),
            variadic: sig.variadic.is_some(),
            of: of.cloned(),
            deprecated: attrs.deprecated,
        })))
    }

    fn record(
        &mut self,
        fields: &Fields,
        all_public: bool,
        non_exhaustive: bool,
        here: &Here,
    ) -> Result<Record, Error> {
        let form = match fields {
            Fields::Named(_) => Form::Named,
            Fields::Unnamed(_) => Form::Tuple,
            Fields::Unit => Form::Unit,
        };
        let mut record = Record { form, public: BTreeMap::new(), private: 0, non_exhaustive };
        for (i, field) in fields.iter().enumerate() {
            let attrs = Attrs::read(&field.attrs);
            if attrs.test_only {
                continue;
            }
            if (all_public || is_public(&field.vis)) && !attrs.hidden {
                let name = field.ident.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
                record.public.insert(name, self.of(&field.ty, here)?);
            } else {
                record.private += 1;
            }
        }
        Ok(record)
    }

    /// What an item looks like from outside; `public` says whether an item of the crate has a public path.
    pub(super) fn item(
        &mut self,
        item: &Item,
        attrs: &Attrs,
        here: &Here,
        public: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Shape>, Error> {
        let mut here = here.clone();
        let repr = attrs.repr.clone();
        Ok(Some(match item {
            Item::Fn(f) => match &attrs.makes {
                Some(super::attrs::Makes::Function) => Shape::ProcMacro("function-like"),
                Some(super::attrs::Makes::Attribute) => Shape::ProcMacro("attribute"),
                Some(super::attrs::Makes::Derive(_)) => Shape::ProcMacro("derive"),
                None => self.function(&f.sig, attrs, &here, None, None)?,
            },
            Item::Struct(s) => {
                let parameters = self.parameters(&s.generics, 'T', &mut here)?;
                let record = self.record(&s.fields, false, attrs.non_exhaustive, &here)?;
                Shape::Record { parameters, record, is_union: false, repr }
            }
            Item::Union(u) => {
                let parameters = self.parameters(&u.generics, 'T', &mut here)?;
                let record =
                    self.record(&Fields::Named(u.fields.clone()), false, attrs.non_exhaustive, &here)?;
                Shape::Record { parameters, record, is_union: true, repr }
            }
            Item::Enum(e) => {
                let parameters = self.parameters(&e.generics, 'T', &mut here)?;
                let mut variants = BTreeMap::new();
                let mut non_exhaustive = attrs.non_exhaustive;
                for variant in &e.variants {
                    let attrs = Attrs::read(&variant.attrs);
                    if attrs.hidden || attrs.test_only {
                        // Before there was an attribute for it, a hidden variant said the same.
                        non_exhaustive |= attrs.hidden;
                        continue;
                    }
                    let record = self.record(&variant.fields, true, attrs.non_exhaustive, &here)?;
                    let number = variant
                        .discriminant
                        .as_ref()
                        .map(|(_, e)| plain(&quote::ToTokens::to_token_stream(e)));
                    variants.insert(variant.ident.to_string(), (record, number));
                }
                Shape::Enum { parameters, variants, non_exhaustive, repr }
            }
            Item::Trait(t) => self.a_trait(t, &mut here, public)?,
            Item::TraitAlias(t) => {
                let parameters = self.parameters(&t.generics, 'T', &mut here)?;
                Shape::Plain { word: "the trait alias", parameters, text: self.of(&t.bounds, &here)? }
            }
            Item::Type(t) => {
                let parameters = self.parameters(&t.generics, 'T', &mut here)?;
                Shape::Plain { word: "the type", parameters, text: self.of(&t.ty, &here)? }
            }
            Item::Const(c) => Shape::Plain {
                word: "the constant",
                parameters: Parameters::default(),
                text: self.of(&c.ty, &here)?,
            },
            Item::Static(s) => {
                let mutable = !matches!(s.mutability, syn::StaticMutability::None);
                let text = Signature::of(if mutable { "mut" } else { "" }).then(&self.of(&s.ty, &here)?);
                Shape::Plain { word: "the static", parameters: Parameters::default(), text }
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn foreign(
        &mut self,
        abi: &str,
        item: &syn::ForeignItem,
        attrs: &Attrs,
        here: &Here,
    ) -> Result<Option<Shape>, Error> {
        Ok(match item {
            syn::ForeignItem::Fn(f) => {
                let mut shape = self.function(&f.sig, attrs, here, None, None)?;
                if let Shape::Function(function) = &mut shape {
                    function.abi = Some(abi.to_owned());
                    function.is_unsafe = !matches!(f.sig.safety, Safety::Safe(_));
                }
                Some(shape)
            }
            syn::ForeignItem::Static(s) => {
                let text = self.of(&s.ty, here)?;
                Some(Shape::Plain { word: "the static", parameters: Parameters::default(), text })
            }
            syn::ForeignItem::Type(_) => Some(Shape::Plain {
                word: "the type",
                parameters: Parameters::default(),
                text: Signature::of("extern"),
            }),
            _ => None,
        })
    }

    fn a_trait(
        &mut self,
        item: &syn::ItemTrait,
        here: &mut Here,
        public: &dyn Fn(usize) -> bool,
    ) -> Result<Shape, Error> {
        let parameters = self.parameters(&item.generics, 'T', here)?;
        let mut above = BTreeSet::new();
        for bound in &item.supertraits {
            above.insert(self.of(bound, here)?);
        }
        let is_private = |piece: &Piece| matches!(piece, Piece::Item(i) if !public(*i));
        let is_sealed = above.iter().any(|bound| bound.0.first().is_some_and(is_private));
        let mut members = BTreeMap::new();
        for member in &item.items {
            let (name, attrs, what, has_default, fits_objects) = match member {
                TraitItem::Fn(f) => {
                    let attrs = Attrs::read(&f.attrs);
                    let shape = self.function(&f.sig, &attrs, here, None, None)?;
                    (f.sig.ident.to_string(), attrs, shape, f.default.is_some(), fits_objects(&f.sig))
                }
                TraitItem::Type(t) => {
                    let mut inner = here.clone();
                    let mut parameters = self.parameters(&t.generics, 'U', &mut inner)?;
                    let bounded = Signature::of("it");
                    self.bounds(&bounded, t.bounds.iter(), &inner, &mut parameters.bounds)?;
                    let fits = t.generics.params.is_empty();
                    let shape = Shape::Plain { word: "the type", parameters, text: Signature::default() };
                    (t.ident.to_string(), Attrs::read(&t.attrs), shape, t.default.is_some(), fits)
                }
                TraitItem::Const(c) => {
                    let text = self.of(&c.ty, here)?;
                    let shape =
                        Shape::Plain { word: "the constant", parameters: Parameters::default(), text };
                    (c.ident.to_string(), Attrs::read(&c.attrs), shape, c.default.is_some(), false)
                }
                _ => continue,
            };
            // What is hidden and can be left out is nobody's business; what must be implemented is.
            if !(attrs.test_only || attrs.hidden && has_default) {
                members.insert(name, Member { what, has_default, fits_objects });
            }
        }
        Ok(Shape::Trait { parameters, above, is_unsafe: item.unsafety.is_some(), is_sealed, members })
    }
}

/// Whether a trait with this method can still be a trait object
/// ([Dyn compatibility](https://doc.rust-lang.org/reference/items/traits.html#dyn-compatibility)), as far as its words say.
fn fits_objects(sig: &syn::Signature) -> bool {
    let wants_sized = sig.generics.where_clause.iter().flat_map(|w| &w.predicates).any(|p| {
        let text = plain(&quote::ToTokens::to_token_stream(p));
        text.starts_with("Self:") && text.contains("Sized")
    });
    if wants_sized {
        return true;
    }
    let says_self = |part: &dyn quote::ToTokens| {
        let text = plain(&part.to_token_stream());
        text.match_indices("Self").any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + 4..).unwrap_or_default();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                && !after.starts_with("::")
        })
    };
    let typed = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    let is_generic = sig.generics.params.iter().any(|p| !matches!(p, GenericParam::Lifetime(_)));
    let takes_impl = sig
        .inputs
        .iter()
        .any(|input| matches!(input, FnArg::Typed(t) if matches!(*t.ty, syn::Type::ImplTrait(_))));
    let returns = match &sig.output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => !says_self(ty) && !matches!(**ty, syn::Type::ImplTrait(_)),
    };
    sig.receiver().is_some()
        && !is_generic
        && !takes_impl
        && sig.asyncness.is_none()
        && returns
        && !typed.into_iter().any(|typed| says_self(&typed.ty))
}
