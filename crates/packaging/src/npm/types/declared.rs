//! What TypeScript says of itself: what it imports, whether it is a module, and what its default export is (§3.6).

use std::collections::BTreeSet;

use oxc_ast::ast::{
    Declaration, Expression, ImportAttributeKey, ImportExpression, ImportMeta, ImportOrExportKind,
    ObjectExpression, ObjectPropertyKind, Program, Statement, StringLiteral, TSImportType, TSModuleReference,
    WithClause,
};
use oxc_ast_visit::{Visit, walk};

use super::path::{absolute, relative};
use super::resolve::Format;
use super::shape::{self, Shapes};

/// How an import is written: it decides whether it is resolved as `import` or as `require`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `import` and `export … from`, as the file is.
    Statement,
    /// `import x = require(…)`.
    Require,
    /// `import("…")` as a type, as the file is.
    Type,
    /// `import("…")` that runs.
    Dynamic,
}

/// A specifier in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) specifier: String,
    /// Of the text in quotes: offsets in bytes.
    pub(super) span: (u32, u32),
    pub(super) form: Form,
    /// What `resolution-mode` says.
    pub(super) mode: Option<Format>,
}

/// `/// <reference …/>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reference {
    Path(String),
    Types(String, Option<Format>),
}

/// What is known of a TypeScript file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Declared {
    /// In TypeScript's order: statements first, then the others as they come.
    pub(super) imports: Vec<Import>,
    pub(super) references: Vec<Reference>,
    /// Whether it has `import` or `export`.
    pub(super) module: bool,
    /// The modules that it declares by name. An import of one of these in the same file is not resolved at all.
    pub(super) ambient: BTreeSet<String>,
    pub(super) shapes: Shapes,
}

impl Declared {
    pub(super) fn of(program: &Program<'_>) -> Self {
        let mut finder = Finder::default();
        finder.visit_program(program);
        let module = program.body.iter().any(is_module_syntax) || finder.meta;
        let mut imports = Vec::new();
        for statement in &program.body {
            statements(statement, module, false, &mut imports);
        }
        finder.imports.sort_by_key(|import| import.span);
        imports.append(&mut finder.imports);
        let named = program.body.iter().filter_map(|statement| match statement {
            Statement::TSExternalModuleDeclaration(declared) => Some(declared.id.value.to_string()),
            _ => None,
        });
        let ambient = if module { BTreeSet::new() } else { named.collect() };
        Self { imports, references: references(program), module, ambient, shapes: shape::of(program) }
    }
}

fn is_module_syntax(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ImportDeclaration(_)
        | Statement::ExportAllDeclaration(_)
        | Statement::ExportDefaultDeclaration(_)
        | Statement::ExportDeclaration(_)
        | Statement::ExportNamedDeclaration(_)
        | Statement::ExportFromDeclaration(_)
        | Statement::TSExportAssignment(_) => true,
        Statement::TSImportEqualsDeclaration(import) => {
            matches!(import.module_reference, TSModuleReference::ExternalModuleReference(_))
        }
        _ => false,
    }
}

/// Imports that are statements; inside `declare module "…" {}` those that are no paths.
fn statements(statement: &Statement<'_>, module: bool, ambient: bool, imports: &mut Vec<Import>) {
    let mut add = |source: &StringLiteral<'_>, form: Form, mode: Option<Format>| {
        let specifier = source.value.to_string();
        if !specifier.is_empty() && !(ambient && (relative(&specifier) || absolute(&specifier))) {
            imports.push(Import { specifier, span: (source.span.start, source.span.end), form, mode });
        }
    };
    let typed = |kind: ImportOrExportKind, with: Option<&WithClause<'_>>| {
        if kind == ImportOrExportKind::Type { with.and_then(attribute_mode) } else { None }
    };
    let equals = match statement {
        Statement::ImportDeclaration(import) => {
            let mode = typed(import.import_kind, import.with_clause.as_deref());
            return add(&import.source, Form::Statement, mode);
        }
        Statement::ExportAllDeclaration(export) => {
            let mode = typed(export.export_kind, export.with_clause.as_deref());
            return add(&export.source, Form::Statement, mode);
        }
        Statement::ExportFromDeclaration(export) => {
            let mode = typed(export.export_kind, export.with_clause.as_deref());
            return add(&export.source, Form::Statement, mode);
        }
        Statement::TSImportEqualsDeclaration(import) => import,
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::TSImportEqualsDeclaration(import) => import,
            _ => return,
        },
        // In a module these add to another module and are no declarations of one.
        Statement::TSExternalModuleDeclaration(declared) if !module && !ambient => {
            let body = declared.body.as_ref().map(|body| body.body.as_slice()).unwrap_or_default();
            return body.iter().for_each(|statement| statements(statement, module, true, imports));
        }
        Statement::TSGlobalDeclaration(global) if !module && !ambient => {
            return global
                .body
                .body
                .iter()
                .for_each(|statement| statements(statement, module, true, imports));
        }
        _ => return,
    };
    if let TSModuleReference::ExternalModuleReference(reference) = &equals.module_reference {
        add(&reference.expression, Form::Require, None);
    }
}

/// `with { "resolution-mode": "import" }`, when it is all there is.
fn attribute_mode(with: &WithClause<'_>) -> Option<Format> {
    let [entry] = with.with_entries.as_slice() else { return None };
    match &entry.key {
        ImportAttributeKey::StringLiteral(key) if key.value == "resolution-mode" => mode(&entry.value.value),
        _ => None,
    }
}

/// The same for `import("…", { with: { "resolution-mode": "import" } })`.
fn option_mode(options: &ObjectExpression<'_>) -> Option<Format> {
    let [ObjectPropertyKind::ObjectProperty(with)] = options.properties.as_slice() else { return None };
    let Expression::ObjectExpression(inner) = &with.value else { return None };
    let [ObjectPropertyKind::ObjectProperty(entry)] = inner.properties.as_slice() else { return None };
    let Expression::StringLiteral(value) = &entry.value else { return None };
    let fits = matches!(with.key.static_name().as_deref(), Some("with" | "assert"))
        && entry.key.static_name().as_deref() == Some("resolution-mode");
    if fits { mode(&value.value) } else { None }
}

fn mode(text: &str) -> Option<Format> {
    match text {
        "import" => Some(Format::Esm),
        "require" => Some(Format::Cjs),
        _ => None,
    }
}

#[derive(Default)]
struct Finder {
    imports: Vec<Import>,
    meta: bool,
}

impl<'a> Visit<'a> for Finder {
    fn visit_import_meta(&mut self, _: &ImportMeta) {
        self.meta = true;
    }

    fn visit_import_expression(&mut self, node: &ImportExpression<'a>) {
        let found = match &node.source {
            Expression::StringLiteral(text) => Some((text.value.to_string(), text.span)),
            Expression::TemplateLiteral(template) => {
                template.single_quasi().map(|text| (text.to_string(), template.span))
            }
            _ => None,
        };
        if let Some((specifier, span)) = found {
            let span = (span.start, span.end);
            self.imports.push(Import { specifier, span, form: Form::Dynamic, mode: None });
        }
        walk::walk_import_expression(self, node);
    }

    fn visit_ts_import_type(&mut self, node: &TSImportType<'a>) {
        self.imports.push(Import {
            specifier: node.source.value.to_string(),
            span: (node.source.span.start, node.source.span.end),
            form: Form::Type,
            mode: node.options.as_deref().and_then(option_mode),
        });
        walk::walk_ts_import_type(self, node);
    }
}

/// The comments before the first statement that are references.
fn references(program: &Program<'_>) -> Vec<Reference> {
    let first = program.body.first().map(oxc_span::GetSpan::span).map_or(u32::MAX, |span| span.start);
    let first = program.directives.first().map_or(first, |directive| first.min(directive.span.start));
    let comments = program.comments.iter().filter(|comment| comment.span.end <= first);
    let found = comments.filter_map(|comment| {
        let text = program.source_text.get(comment.span.start as usize..comment.span.end as usize)?;
        reference(text)
    });
    let (mut paths, types): (Vec<_>, Vec<_>) =
        found.partition(|reference| matches!(reference, Reference::Path(_)));
    paths.extend(types);
    paths
}

fn reference(comment: &str) -> Option<Reference> {
    let tag = comment.strip_prefix("///")?.trim_start().strip_prefix("<reference")?;
    let attributes = tag.get(..tag.find("/>")?)?;
    if !attributes.starts_with(char::is_whitespace) || attribute(attributes, "no-default-lib").is_some() {
        return None;
    }
    if let Some(types) = attribute(attributes, "types") {
        let mode = attribute(attributes, "resolution-mode").and_then(|text| mode(&text));
        return Some(Reference::Types(types, mode));
    }
    if attribute(attributes, "lib").is_some() {
        return None;
    }
    attribute(attributes, "path").map(Reference::Path)
}

/// The value of `name="…"`, in either kind of quotes.
fn attribute(text: &str, name: &str) -> Option<String> {
    text.match_indices(name).find_map(|(place, _)| {
        text.get(..place)?.ends_with(char::is_whitespace).then_some(())?;
        let value = text.get(place + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let inner = value.get(1..)?;
        inner.get(..inner.find(quote)?).map(str::to_owned)
    })
}
