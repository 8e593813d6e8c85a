//! Which modules a file imports, what it exports, and what a specifier means.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression, ImportExpression,
    ModuleExportName, Program, Statement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::Span;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::strip::place;
use crate::strip::shape::Shape;

/// What kind of module a specifier names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// `./a`, `../a`: a file of the skill's own.
    Relative,
    /// `node:fs`.
    Node,
    /// `lodash`, `@scope/name/part`, also `fs`: a package, or what Node has without its prefix.
    Bare,
    /// Anything else: an absolute path, a URL.
    Other,
    /// `import(name)`: known only when it runs.
    Computed,
}

impl Source {
    /// Of a specifier's text.
    pub fn of(specifier: &str) -> Self {
        let is_relative = specifier.starts_with("./") || specifier.starts_with("../");
        if is_relative || matches!(specifier, "." | "..") {
            Self::Relative
        } else if specifier.starts_with("node:") {
            Self::Node
        } else if specifier.is_empty() || specifier.starts_with(['/', '\\', '#']) || specifier.contains(':') {
            Self::Other
        } else {
            Self::Bare
        }
    }
}

/// One import of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// What is imported, as written; empty when it is computed.
    pub specifier: String,
    /// What kind of module that is.
    pub source: Source,
    /// Whether it is `import(…)`.
    pub dynamic: bool,
    /// The line, from 1.
    pub line: u32,
    /// The column in UTF-16 units, from 1.
    pub column: u32,
}

/// One name that a file exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The name; `default`; `*` for all that another module exports.
    pub name: String,
    /// Whether it is seen to be a function. A constant may turn out to be one when it runs.
    pub function: bool,
}

/// Imports, exports and the tree of a program without types.
pub(crate) fn of<'t>(text: &'t str, program: &Program<'_>) -> Found<'t> {
    let mut found = Found { text, imports: Vec::new(), exports: Vec::new(), shape: Shape::default() };
    found.visit_program(program);
    for statement in &program.body {
        found.exported(statement);
    }
    found
}

/// What was found in a program.
pub(crate) struct Found<'t> {
    text: &'t str,
    pub(crate) imports: Vec<Import>,
    pub(crate) exports: Vec<Export>,
    pub(crate) shape: Shape,
}

impl Found<'_> {
    fn import(&mut self, specifier: &str, dynamic: bool, span: Span) {
        // One too many is what the file is refused for.
        if self.imports.len() > limits::IMPORTS {
            return;
        }
        let (line, column) = place(self.text, span.start as usize);
        let specifier = limits::cut(specifier, limits::PATH_BYTES);
        let source = if dynamic && specifier.is_empty() { Source::Computed } else { Source::of(&specifier) };
        self.imports.push(Import { specifier, source, dynamic, line, column });
    }

    fn export(&mut self, name: &str, function: bool) {
        if self.exports.len() > limits::IMPORTS {
            return;
        }
        self.exports.push(Export { name: limits::cut(name, limits::PATH_BYTES), function });
    }

    fn exported(&mut self, statement: &Statement<'_>) {
        match statement {
            Statement::ExportAllDeclaration(it) => {
                self.export(it.exported.as_ref().map_or("*", name).to_owned().as_str(), false);
            }
            Statement::ExportNamedDeclaration(it) => {
                it.specifiers.iter().for_each(|entry| self.export(name(&entry.exported), false));
            }
            Statement::ExportFromDeclaration(it) => {
                it.specifiers.iter().for_each(|entry| self.export(name(&entry.exported), false));
            }
            Statement::ExportDefaultDeclaration(it) => {
                let function = match &it.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(_) => true,
                    other => other.as_expression().is_some_and(is_function),
                };
                self.export("default", function);
            }
            Statement::ExportDeclaration(it) => match &it.declaration {
                Declaration::FunctionDeclaration(function) => {
                    function.id.iter().for_each(|id| self.export(&id.name, true));
                }
                Declaration::ClassDeclaration(class) => {
                    class.id.iter().for_each(|id| self.export(&id.name, false));
                }
                Declaration::VariableDeclaration(variables) => {
                    for variable in &variables.declarations {
                        self.bound(&variable.id, variable.init.as_ref().is_some_and(is_function));
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn bound(&mut self, pattern: &BindingPattern<'_>, function: bool) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => self.export(&id.name, function),
            BindingPattern::AssignmentPattern(it) => self.bound(&it.left, false),
            BindingPattern::ObjectPattern(it) => {
                it.properties.iter().for_each(|property| self.bound(&property.value, false));
                it.rest.iter().for_each(|rest| self.bound(&rest.argument, false));
            }
            BindingPattern::ArrayPattern(it) => {
                it.elements.iter().flatten().for_each(|element| self.bound(element, false));
                it.rest.iter().for_each(|rest| self.bound(&rest.argument, false));
            }
        }
    }
}

fn name<'n>(name: &'n ModuleExportName<'_>) -> &'n str {
    match name {
        ModuleExportName::IdentifierName(it) => it.name.as_str(),
        ModuleExportName::IdentifierReference(it) => it.name.as_str(),
        ModuleExportName::StringLiteral(it) => it.value.as_str(),
    }
}

fn is_function(expression: &Expression<'_>) -> bool {
    matches!(
        expression.without_parentheses(),
        Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_)
    )
}

impl<'a> Visit<'a> for Found<'_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.shape.enter(kind);
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        self.shape.leave(kind);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it {
            Statement::ImportDeclaration(it) => self.import(&it.source.value, false, it.source.span),
            Statement::ExportFromDeclaration(it) => self.import(&it.source.value, false, it.source.span),
            Statement::ExportAllDeclaration(it) => self.import(&it.source.value, false, it.source.span),
            _ => {}
        }
        walk::walk_statement(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        match it.source.without_parentheses() {
            Expression::StringLiteral(literal) => self.import(&literal.value, true, it.span),
            Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
                let text = template.quasis.first().and_then(|part| part.value.cooked);
                self.import(text.as_ref().map_or("", |text| text.as_str()), true, it.span);
            }
            _ => {
                self.import("", true, it.span);
            }
        }
        walk::walk_import_expression(self, it);
    }
}

/// Which file a relative specifier means, of those that are there: the file itself, `.js` written for a `.ts`, a name without
/// its ending, a folder's `index`. `None` when there is none, or when it leads out of the folder that all paths are below.
pub fn resolve(from: &str, specifier: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
    if Source::of(specifier) != Source::Relative || specifier.len() > limits::PATH_BYTES {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in specifier.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let swapped = [(".js", ".ts"), (".mjs", ".mts")]
        .iter()
        .find_map(|(made, written)| path.strip_suffix(made).map(|stem| format!("{stem}{written}")));
    let ended = [".ts", ".mts", ".js", ".mjs"].iter().map(|ending| format!("{path}{ending}"));
    let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
    let index =
        ["index.ts", "index.mts", "index.js", "index.mjs"].iter().map(|name| format!("{folder}{name}"));
    let mut tries = std::iter::once(path.clone()).chain(swapped).chain(ended).chain(index);
    tries.find(|path| exists(path))
}

/// Whether a path can name a file of a run: relative, below its folder, plain text.
pub fn is_path(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= limits::PATH_BYTES
        && !path.contains(|c: char| c.is_control() || c == '\\')
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The functions that are looked for in a skill's module, the first one first: its name in camel case, `execute`, `default`.
pub fn functions(skill: &str) -> [String; 3] {
    let mut name = String::new();
    for part in skill.split(['-', '.', '_']).filter(|part| !part.is_empty()) {
        let mut chars = part.chars();
        let Some(first) = chars.next() else { continue };
        if name.is_empty() {
            name.push(first.to_ascii_lowercase());
        } else {
            name.push(first.to_ascii_uppercase());
        }
        name.push_str(chars.as_str());
    }
    [name, "execute".to_owned(), "default".to_owned()]
}
