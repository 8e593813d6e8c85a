//! What is blanked: statements, expressions, functions. Members of classes: `members.rs`.

use std::collections::BTreeSet;

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, Class, Declaration, Decorator, ExportDefaultDeclaration,
    ExportDefaultDeclarationKind, ExportSpecifier, ExpressionStatement, FormalParameter, Function,
    ImportOrExportKind, ImportSpecifier, JSXElement, JSXFragment, Program, Statement, TSAsExpression,
    TSClassImplements, TSEnumDeclaration, TSInstantiationExpression, TSNamespaceDeclaration,
    TSNamespaceDeclarationBody, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter, TSType,
    TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::Refusal;
use super::shape::Shape;
use super::sheet::{Sheet, has_line_end};

/// The text of a program without its types and what its tree is without them, or the first thing in it that is more than a
/// type.
pub(super) fn types(text: &str, program: &Program<'_>) -> Result<(String, Shape), Refusal> {
    let mut eraser =
        Eraser { sheet: Sheet::new(text), refused: None, starts: BTreeSet::new(), shape: Shape::default() };
    eraser.visit_program(program);
    match eraser.refused {
        Some((offset, message)) => Err(Refusal::at(text, offset, message)),
        None => Ok((eraser.sheet.finish(), eraser.shape)),
    }
}

pub(super) struct Eraser<'t> {
    pub(super) sheet: Sheet<'t>,
    /// The first place that is refused.
    refused: Option<(usize, &'static str)>,
    /// Where a brace, `function` or `class` would mean something else than an expression.
    starts: BTreeSet<usize>,
    shape: Shape,
}

/// What a statement is, once types are out.
enum Kept {
    Whole,
    Nothing,
    Refused(&'static str),
}

const ENUM: &str = "`enum` makes a value, so it cannot be taken out as a type: write a `const` object and a union of its values";
const NAMESPACE: &str =
    "a namespace with values in it cannot be taken out as a type: write a module, or `const` and functions";
const IMPORT_EQUALS: &str = "`import … =` is not run: write `import … from`";
const EXPORT_EQUALS: &str = "`export =` is not run: write `export default` or `export`";
const PARAMETER_PROPERTY: &str = "a parameter with `public`, `private`, `protected`, `readonly` or `override` makes a property: declare the property and assign it in the constructor";
const DECORATOR: &str = "decorators are not run: call the function instead";
const JSX: &str = "JSX is not run";
const ASSERTION: &str = "this `<T>value` cannot be taken out where it stands: write `value as T`";
const ARROW: &str =
    "the type of this arrow function cannot be taken out where its line ends: write it on one line";
const AMBIENT: &str = "`module` and `global` describe what is elsewhere: write `declare` before them";

pub(super) fn from(span: Span) -> usize {
    span.start as usize
}

pub(super) fn to(span: Span) -> usize {
    span.end as usize
}

impl Eraser<'_> {
    pub(super) fn refuse(&mut self, at: usize, message: &'static str) {
        if self.refused.is_none_or(|(before, _)| at < before) {
            self.refused = Some((at, message));
        }
    }

    fn blank(&mut self, span: Span) {
        self.sheet.blank(from(span), to(span));
    }

    /// Blanks a statement. Where what follows could go on with what stands before, a semicolon stays.
    fn erase(&mut self, span: Span) {
        self.blank(span);
        if self
            .token_after(to(span))
            .is_some_and(|next| matches!(next.text, "(" | "[" | "`" | "+" | "-" | "/" | "<" | "*"))
        {
            self.sheet.put(from(span), b';');
        }
    }

    fn token_after(&self, at: usize) -> Option<super::sheet::Token<'_>> {
        self.sheet.token(at, at + self.sheet.rest(at).len())
    }

    /// `value as T` at the end of a line: what stands on the next must not become a call or an index of `value`.
    fn cast(&mut self, value: Span, node: Span) {
        let word = self.sheet.token(to(value), to(node)).map(|token| token.at);
        self.sheet.blank(to(value), to(node));
        let joins = self
            .token_after(to(node))
            .is_some_and(|next| next.on_new_line && matches!(next.text, "(" | "[" | "`"));
        if let (true, Some(word)) = (joins, word) {
            self.sheet.put(word, b';');
        }
    }

    fn kept(statement: &Statement<'_>) -> Kept {
        match statement {
            Statement::ImportDeclaration(it) => when_type(it.import_kind),
            Statement::ExportNamedDeclaration(it) => when_type(it.export_kind),
            Statement::ExportFromDeclaration(it) => when_type(it.export_kind),
            Statement::ExportAllDeclaration(it) => when_type(it.export_kind),
            Statement::ExportDeclaration(it) => kept_of_declaration(&it.declaration),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => Kept::Nothing,
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => kept_of_function(function),
                _ => Kept::Whole,
            },
            Statement::TSExportAssignment(_) => Kept::Refused(EXPORT_EQUALS),
            Statement::TSNamespaceExportDeclaration(_) => Kept::Nothing,
            other => other.as_declaration().map_or(Kept::Whole, kept_of_declaration),
        }
    }

    /// An entry of `{ a, type B, c }`, with the comma that follows it.
    fn erase_entry(&mut self, span: Span) {
        self.blank(span);
        if let Some(comma) = self.token_after(to(span)).filter(|next| next.text == ",").map(|next| next.at) {
            self.sheet.put(comma, b' ');
        }
    }
}

fn when_type(kind: ImportOrExportKind) -> Kept {
    if kind == ImportOrExportKind::Type { Kept::Nothing } else { Kept::Whole }
}

fn kept_of_function(function: &Function<'_>) -> Kept {
    if function.declare || function.body.is_none() { Kept::Nothing } else { Kept::Whole }
}

fn kept_of_declaration(declaration: &Declaration<'_>) -> Kept {
    let when_declared =
        |declared: bool, message| if declared { Kept::Nothing } else { Kept::Refused(message) };
    match declaration {
        Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => Kept::Nothing,
        Declaration::TSEnumDeclaration(it) => when_declared(it.declare, ENUM),
        Declaration::TSNamespaceDeclaration(it) => when_declared(is_only_types(it), NAMESPACE),
        Declaration::TSExternalModuleDeclaration(it) => when_declared(it.declare, AMBIENT),
        Declaration::TSGlobalDeclaration(it) => when_declared(it.declare, AMBIENT),
        Declaration::TSImportEqualsDeclaration(it) => {
            when_declared(it.import_kind == ImportOrExportKind::Type, IMPORT_EQUALS)
        }
        Declaration::VariableDeclaration(it) if it.declare => Kept::Nothing,
        Declaration::ClassDeclaration(it) if it.declare => Kept::Nothing,
        Declaration::FunctionDeclaration(it) => kept_of_function(it),
        Declaration::VariableDeclaration(_) | Declaration::ClassDeclaration(_) => Kept::Whole,
    }
}

/// Whether nothing of a namespace is there at run time.
fn is_only_types(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    namespace.declare
        || match &namespace.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => is_only_types(inner),
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                block.directives.is_empty()
                    && block.body.iter().all(|statement| match statement {
                        Statement::ExportNamedDeclaration(it) => it.specifiers.is_empty(),
                        other => matches!(Eraser::kept(other), Kept::Nothing),
                    })
            }
        }
}

impl<'a> Visit<'a> for Eraser<'_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.shape.enter(kind);
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        self.shape.leave(kind);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        match Self::kept(it) {
            Kept::Whole => walk::walk_statement(self, it),
            Kept::Nothing => self.erase(it.span()),
            Kept::Refused(message) => self.refuse(from(it.span()), message),
        }
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.refuse(from(it.span), ENUM);
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        self.starts.insert(from(it.span));
        walk::walk_expression_statement(self, it);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.starts.insert(from(it.declaration.span()));
        walk::walk_export_default_declaration(self, it);
    }

    fn visit_import_specifier(&mut self, it: &ImportSpecifier<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            self.erase_entry(it.span);
        } else {
            walk::walk_import_specifier(self, it);
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind == ImportOrExportKind::Type {
            self.erase_entry(it.span);
        } else {
            walk::walk_export_specifier(self, it);
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            let end = it.type_annotation.as_ref().map_or(to(it.span), |annotation| from(annotation.span));
            if let Some(at) = self.sheet.find(to(it.id.span()), end, "!") {
                self.sheet.put(at, b' ');
            }
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(from(it.span), PARAMETER_PROPERTY);
        }
        if it.optional {
            let after = to(it.pattern.span());
            if let Some(at) = self.token_after(after).filter(|next| next.text == "?").map(|next| next.at) {
                self.sheet.put(at, b' ');
            }
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.erase_entry(it.span);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        let start = from(it.span);
        let has_colon = self.sheet.rest(start).starts_with(':');
        let before = self.sheet.part(0, start).rfind(':').filter(|_| !has_colon);
        self.sheet.blank(before.unwrap_or(start), to(it.span));
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span);
    }

    // Everything that has types in it blanks them whole.
    fn visit_ts_type(&mut self, _it: &TSType<'a>) {}

    // Blanked with the word before them: `visit_class`.
    fn visit_ts_class_implements(&mut self, _it: &TSClassImplements<'a>) {}

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let kind = AstKind::ArrowFunctionExpression(self.alloc(it));
        self.enter_node(kind);
        // No line may end between `async` or what stands before the function, and `(`; nor between `)` and `=>`.
        let open = from(it.params.span);
        let mut moved = true;
        if let Some(types) = &it.type_parameters
            && has_line_end(self.sheet.part(from(types.span), open))
        {
            self.blank(types.span);
            moved &= self.sheet.rest(open).starts_with('(') && self.sheet.put(open, b' ');
            moved &= self.sheet.put(from(types.span), b'(');
        } else {
            it.type_parameters.iter().for_each(|types| self.blank(types.span));
        }
        if let Some(annotation) = &it.return_type {
            let close = to(it.params.span).saturating_sub(1);
            self.visit_ts_type_annotation(annotation);
            if has_line_end(self.sheet.part(close, to(annotation.span))) {
                moved &= self.sheet.rest(close).starts_with(')') && self.sheet.put(close, b' ');
                moved &= self.sheet.put(to(annotation.span).saturating_sub(1), b')');
            }
        }
        if !moved {
            self.refuse(from(it.span), ARROW);
        }
        self.visit_formal_parameters(&it.params);
        if let ArrowFunctionBody::FunctionBody(body) = &it.body {
            self.visit_function_body(body);
        } else {
            self.starts.insert(from(it.body.span()));
            self.visit_arrow_function_body(&it.body);
        }
        self.leave_node(kind);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.cast(it.expression.span(), it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.cast(it.expression.span(), it.span);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.sheet.put(to(it.span).saturating_sub(1), b' ');
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(it.type_arguments.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let (start, value) = (from(it.span), from(it.expression.span()));
        let is_start = self.starts.contains(&start);
        let first = self.sheet.token(value, to(it.span)).map_or("", |token| token.text);
        let changes = is_start && matches!(first, "{" | "function" | "class" | "async" | "let");
        if changes || has_line_end(self.sheet.part(start, value)) {
            self.refuse(start, ASSERTION);
        }
        if is_start {
            self.starts.insert(value);
        }
        self.sheet.blank(start, value);
        self.visit_expression(&it.expression);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(from(it.span), DECORATOR);
    }

    fn visit_jsx_element(&mut self, it: &JSXElement<'a>) {
        self.refuse(from(it.span), JSX);
    }

    fn visit_jsx_fragment(&mut self, it: &JSXFragment<'a>) {
        self.refuse(from(it.span), JSX);
    }
}
