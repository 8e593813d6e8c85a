//! Classes and their members.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    AccessorProperty, AccessorPropertyType, Class, ClassElement, MethodDefinition, MethodDefinitionType,
    PropertyDefinition, PropertyDefinitionType, PropertyKey,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::erase::{Eraser, from, to};

/// Words before a member's name that are gone with the types.
const MODIFIERS: [&str; 7] =
    ["public", "private", "protected", "readonly", "abstract", "override", "declare"];

/// Names of properties that would be taken for the start of the next member.
const OPENING: [&str; 5] = ["get", "set", "static", "async", "accessor"];

impl Eraser<'_> {
    pub(super) fn class<'a>(&mut self, it: &Class<'a>)
    where
        Self: Visit<'a>,
    {
        let kind = AstKind::Class(self.alloc(it));
        self.enter_node(kind);
        let body = from(it.body.span);
        if it.r#abstract
            && let Some(at) = self.sheet.find(from(it.span), body, "abstract")
        {
            self.sheet.blank(at, at + "abstract".len());
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let heritage = it.heritage.as_ref().map(|heritage| {
                heritage
                    .type_arguments
                    .as_ref()
                    .map_or(to(heritage.expression.span()), |types| to(types.span))
            });
            let types = it.type_parameters.as_ref().map(|types| to(types.span));
            let id = it.id.as_ref().map(|id| to(id.span));
            let after = heritage.or(types).or(id).unwrap_or_else(|| from(it.span));
            if let Some(at) = self.sheet.find(after, from(first.span), "implements") {
                self.sheet.blank(at, to(last.span));
            }
        }
        self.visit_decorators(&it.decorators);
        if let Some(id) = &it.id {
            self.visit_binding_identifier(id);
        }
        if let Some(types) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(types);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_class_heritage(heritage);
        }
        let members = AstKind::ClassBody(self.alloc(&*it.body));
        self.enter_node(members);
        // The property before, when it has no semicolon: what follows could go on with it.
        let mut open = false;
        for element in &it.body.body {
            let span = element.span();
            let blanked = self.member(element);
            if open && blanked.is_some() {
                self.sheet.put(from(span), b';');
                open = false;
            }
            if blanked != Some(Blanked::Whole) {
                open = matches!(
                    element,
                    ClassElement::PropertyDefinition(_) | ClassElement::AccessorProperty(_)
                ) && !self.sheet.part(from(span), to(span)).ends_with(';');
            }
        }
        self.leave_node(members);
        self.leave_node(kind);
    }

    fn member<'a>(&mut self, element: &ClassElement<'a>) -> Option<Blanked>
    where
        Self: Visit<'a>,
    {
        match element {
            ClassElement::StaticBlock(block) => {
                self.visit_static_block(block);
                None
            }
            ClassElement::TSIndexSignature(it) => Some(self.whole(it.span)),
            ClassElement::MethodDefinition(it) => self.method(it),
            ClassElement::PropertyDefinition(it) => self.property(it),
            ClassElement::AccessorProperty(it) => self.accessor(it),
        }
    }

    fn whole(&mut self, span: Span) -> Blanked {
        self.sheet.blank(from(span), to(span));
        Blanked::Whole
    }

    fn method<'a>(&mut self, it: &MethodDefinition<'a>) -> Option<Blanked>
    where
        Self: Visit<'a>,
    {
        if it.r#type == MethodDefinitionType::TSAbstractMethodDefinition || it.value.body.is_none() {
            return Some(self.whole(it.span));
        }
        let blanked = self.modifiers(it.span, &it.key, it.computed);
        if it.optional {
            self.mark(to(it.key.span()), from(it.value.span), "?");
        }
        walk::walk_method_definition(self, it);
        blanked
    }

    fn property<'a>(&mut self, it: &PropertyDefinition<'a>) -> Option<Blanked>
    where
        Self: Visit<'a>,
    {
        if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
            return Some(self.whole(it.span));
        }
        let blanked = self.modifiers(it.span, &it.key, it.computed);
        let key = to(it.key.span());
        let end = it.type_annotation.as_ref().map_or(to(it.span), |annotation| from(annotation.span));
        let mark = match (it.optional, it.definite) {
            (true, _) => self.mark(key, end, "?"),
            (_, true) => self.mark(key, end, "!"),
            _ => None,
        };
        walk::walk_property_definition(self, it);
        let name = match &it.key {
            PropertyKey::StaticIdentifier(name) if !it.computed => name.name.as_str(),
            _ => "",
        };
        let was = mark.or_else(|| it.type_annotation.as_ref().map(|annotation| from(annotation.span)));
        if let (true, None, Some(at)) = (OPENING.contains(&name), &it.value, was) {
            self.sheet.put(at, b';');
        }
        blanked
    }

    fn accessor<'a>(&mut self, it: &AccessorProperty<'a>) -> Option<Blanked>
    where
        Self: Visit<'a>,
    {
        if it.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
            return Some(self.whole(it.span));
        }
        let blanked = self.modifiers(it.span, &it.key, it.computed);
        if it.definite {
            let end = it.type_annotation.as_ref().map_or(to(it.span), |annotation| from(annotation.span));
            self.mark(to(it.key.span()), end, "!");
        }
        walk::walk_accessor_property(self, it);
        blanked
    }

    /// Blanks the words before a member's name. Says so when the first of all is among them.
    fn modifiers(&mut self, span: Span, key: &PropertyKey<'_>, computed: bool) -> Option<Blanked> {
        let end = from(key.span());
        let gone: Vec<_> = self
            .sheet
            .tokens(from(span), end)
            .take_while(|token| !(computed && token.text == "["))
            .filter(|token| MODIFIERS.contains(&token.text))
            .map(|token| (token.at, token.at + token.text.len()))
            .collect();
        for (start, end) in &gone {
            self.sheet.blank(*start, *end);
        }
        (gone.first().is_some_and(|(start, _)| *start == from(span))).then_some(Blanked::Start)
    }

    /// Blanks a `?` or `!` behind a name. Says where it was.
    fn mark(&mut self, start: usize, end: usize, mark: &str) -> Option<usize> {
        let at = self.sheet.find(start, end, mark)?;
        self.sheet.put(at, b' ');
        Some(at)
    }
}

/// What of a member is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blanked {
    /// Its first word.
    Start,
    /// All of it.
    Whole,
}
