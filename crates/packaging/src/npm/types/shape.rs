//! What the exports of a TypeScript file are, as far as syntax tells: enough for the checks of default exports.

use std::cell::Cell;
use std::collections::BTreeMap;

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, Expression, ImportDeclarationSpecifier, ModuleExportName,
    Program, Statement, TSModuleReference, TSNamespaceDeclaration, TSNamespaceDeclarationBody, TSSignature,
    TSType, TSTypeName, TSTypeOperatorOperator, TSTypeQueryExprName,
};

use super::path::relative;

/// How many names are followed from one.
const MAX_STEPS: u32 = 16;
/// Types that are looked at in one file: parts of unions may be unions again.
const MAX_TYPES: u32 = 10_000;

/// What is known of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    /// Whether it can be called or constructed.
    pub(super) callable: Option<bool>,
    /// Whether it is an object type: neither primitive nor a union nor `any`.
    pub(super) object: Option<bool>,
}

const CALLABLE: Shape = Shape { callable: Some(true), object: Some(true) };
const OBJECT: Shape = Shape { callable: Some(false), object: Some(true) };
/// What TypeScript gives a type that it cannot find, and what is no object.
const OTHER: Shape = Shape { callable: Some(false), object: Some(false) };
const UNKNOWN: Shape = Shape { callable: None, object: None };

/// What a file exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shapes {
    /// The type of its default export, when it has one.
    pub(super) default: Option<Shape>,
    /// Whether it has `export =`.
    pub(super) equals: bool,
    /// Whether it exports a value by another name: `None` when that is said in another file.
    pub(super) other_values: Option<bool>,
}

/// What a name stands for.
enum Local<'p, 'a> {
    Callable,
    Enum,
    Namespace { instantiated: bool },
    Variable(Option<&'p TSType<'a>>),
    Interface { callable: bool, extends: bool },
    Alias(&'p TSType<'a>),
    Import { inside: bool },
}

impl Local<'_, '_> {
    fn is_value(&self) -> Option<bool> {
        match self {
            Self::Callable | Self::Enum | Self::Variable(_) | Self::Import { inside: false } => Some(true),
            Self::Namespace { instantiated } => Some(*instantiated),
            Self::Interface { .. } | Self::Alias(_) => Some(false),
            Self::Import { inside: true } => None,
        }
    }
}

#[derive(Default)]
struct Locals<'p, 'a> {
    names: BTreeMap<&'p str, Vec<Local<'p, 'a>>>,
    looked_at: Cell<u32>,
}

/// Reads what a file exports.
pub(super) fn of(program: &Program<'_>) -> Shapes {
    let mut locals = Locals::default();
    for statement in &program.body {
        locals.statement(statement);
    }
    let mut shapes = Shapes { other_values: Some(false), ..Shapes::default() };
    // In a declaration file without a list of exports, everything is exported.
    let listed = program.body.iter().any(|statement| match statement {
        Statement::ExportNamedDeclaration(_)
        | Statement::ExportFromDeclaration(_)
        | Statement::ExportAllDeclaration(_)
        | Statement::TSExportAssignment(_) => true,
        Statement::ExportDefaultDeclaration(export) => export.declaration.is_expression(),
        _ => false,
    });
    let implicit = !listed && program.source_type.is_typescript_definition();
    for statement in &program.body {
        if let (true, Some(declaration)) = (implicit, statement.as_declaration()) {
            shapes.value(locals.declares_value(declaration));
        } else {
            locals.export(statement, &mut shapes);
        }
    }
    shapes
}

impl Shapes {
    fn value(&mut self, value: Option<bool>) {
        self.other_values = match (self.other_values, value) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (None, _) | (_, None) => None,
            _ => Some(false),
        };
    }

    fn name(&mut self, name: &ModuleExportName<'_>, shape: Shape, value: Option<bool>) {
        if name.name() == "default" {
            self.default = Some(shape);
        } else {
            self.value(value);
        }
    }
}

impl<'p, 'a> Locals<'p, 'a> {
    fn add(&mut self, name: &'p str, local: Local<'p, 'a>) {
        self.names.entry(name).or_default().push(local);
    }

    fn statement(&mut self, statement: &'p Statement<'a>) {
        match statement {
            Statement::ImportDeclaration(import) => {
                let inside = relative(&import.source.value);
                for specifier in import.specifiers.iter().flatten() {
                    let local = match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(specifier) => &specifier.local,
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(specifier) => &specifier.local,
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(specifier) => &specifier.local,
                    };
                    self.add(&local.name, Local::Import { inside });
                }
            }
            Statement::ExportDeclaration(export) => self.declaration(&export.declaration),
            Statement::ExportDefaultDeclaration(export) => {
                let id = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
                    _ => None,
                };
                if let Some(id) = id {
                    self.add(&id.name, Local::Callable);
                }
            }
            other => {
                if let Some(declaration) = other.as_declaration() {
                    self.declaration(declaration);
                }
            }
        }
    }

    fn declaration(&mut self, declaration: &'p Declaration<'a>) {
        match declaration {
            Declaration::VariableDeclaration(list) => {
                for declarator in &list.declarations {
                    let annotation =
                        declarator.type_annotation.as_ref().map(|annotation| &annotation.type_annotation);
                    for name in declarator.id.get_binding_identifiers() {
                        let plain = declarator.id.is_binding_identifier();
                        self.add(name.name.as_str(), Local::Variable(annotation.filter(|_| plain)));
                    }
                }
            }
            Declaration::FunctionDeclaration(function) => {
                if let Some(id) = &function.id {
                    self.add(&id.name, Local::Callable);
                }
            }
            Declaration::ClassDeclaration(class) => {
                if let Some(id) = &class.id {
                    self.add(&id.name, Local::Callable);
                }
            }
            Declaration::TSTypeAliasDeclaration(alias) => {
                self.add(&alias.id.name, Local::Alias(&alias.type_annotation));
            }
            Declaration::TSInterfaceDeclaration(interface) => {
                let callable = interface.body.body.iter().any(is_signature);
                self.add(
                    &interface.id.name,
                    Local::Interface { callable, extends: !interface.extends.is_empty() },
                );
            }
            Declaration::TSEnumDeclaration(declared) => self.add(&declared.id.name, Local::Enum),
            Declaration::TSNamespaceDeclaration(namespace) => {
                self.add(&namespace.id.name, Local::Namespace { instantiated: instantiated(namespace) });
            }
            Declaration::TSImportEqualsDeclaration(import) => {
                let inside = match &import.module_reference {
                    TSModuleReference::ExternalModuleReference(module) => relative(&module.expression.value),
                    _ => true,
                };
                self.add(&import.id.name, Local::Import { inside });
            }
            Declaration::TSExternalModuleDeclaration(_) | Declaration::TSGlobalDeclaration(_) => {}
        }
    }

    fn declares_value(&self, declaration: &Declaration<'a>) -> Option<bool> {
        match declaration {
            Declaration::VariableDeclaration(_)
            | Declaration::FunctionDeclaration(_)
            | Declaration::ClassDeclaration(_)
            | Declaration::TSEnumDeclaration(_) => Some(true),
            Declaration::TSNamespaceDeclaration(namespace) => Some(instantiated(namespace)),
            Declaration::TSImportEqualsDeclaration(import) => self.is_value(&import.id.name),
            _ => Some(false),
        }
    }

    fn export(&self, statement: &Statement<'a>, shapes: &mut Shapes) {
        match statement {
            Statement::ExportDeclaration(export) => shapes.value(self.declares_value(&export.declaration)),
            Statement::ExportDefaultDeclaration(export) => {
                shapes.default = Some(match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(_)
                    | ExportDefaultDeclarationKind::ClassDeclaration(_) => CALLABLE,
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => OTHER,
                    ExportDefaultDeclarationKind::Identifier(name) => self.value(&name.name, MAX_STEPS),
                    _ => UNKNOWN,
                });
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    let local = specifier.local.name();
                    let value = self.is_value(&local);
                    shapes.name(&specifier.exported, self.value(&local, MAX_STEPS), value);
                }
            }
            Statement::ExportFromDeclaration(export) => {
                let inside = relative(&export.source.value);
                for specifier in &export.specifiers {
                    let value = if inside { None } else { Some(true) };
                    shapes.name(&specifier.exported, if inside { UNKNOWN } else { OTHER }, value);
                }
            }
            Statement::ExportAllDeclaration(export) => {
                if let Some(name) = &export.exported {
                    shapes.name(name, OBJECT, Some(true));
                }
            }
            Statement::TSExportAssignment(export) => {
                shapes.equals = true;
                shapes.value(match &export.expression {
                    Expression::Identifier(name) => self.is_value(&name.name),
                    _ => Some(true),
                });
            }
            _ => {}
        }
    }

    fn is_value(&self, name: &str) -> Option<bool> {
        let Some(locals) = self.names.get(name) else { return Some(true) };
        let values = locals.iter().map(Local::is_value);
        #[expect(
            clippy::manual_try_fold,
            reason = "one that is a value decides, whatever is unknown before it"
        )]
        values.fold(Some(false), |all, one| match (all, one) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (None, _) | (_, None) => None,
            _ => Some(false),
        })
    }

    /// The type of a name that is used as a value.
    fn value(&self, name: &str, steps: u32) -> Shape {
        let (Some(steps), Some(locals)) = (steps.checked_sub(1), self.names.get(name)) else { return OTHER };
        let found = locals.iter().find_map(|local| match local {
            Local::Callable => Some(CALLABLE),
            Local::Enum => Some(OBJECT),
            Local::Variable(Some(annotation)) => Some(self.of_type(annotation, steps)),
            Local::Variable(None) | Local::Import { inside: true } => Some(UNKNOWN),
            Local::Import { inside: false } => Some(OTHER),
            Local::Namespace { .. } | Local::Interface { .. } | Local::Alias(_) => None,
        });
        let namespace = locals.iter().any(|local| matches!(local, Local::Namespace { instantiated: true }));
        found.unwrap_or(if namespace { OBJECT } else { OTHER })
    }

    /// What a name means as a type.
    fn named_type(&self, name: &str, steps: u32) -> Shape {
        let Some(locals) = self.names.get(name) else {
            return if matches!(name, "Array" | "ReadonlyArray") { OBJECT } else { OTHER };
        };
        let mut shape = OTHER;
        for local in locals {
            shape = match local {
                Local::Alias(target) => return self.of_type(target, steps),
                Local::Import { inside: true } => return UNKNOWN,
                Local::Import { inside: false } => return OTHER,
                Local::Interface { callable: true, .. } => return CALLABLE,
                Local::Interface { extends: true, .. } => Shape { callable: None, object: Some(true) },
                Local::Interface { .. } | Local::Callable if shape == OTHER => OBJECT,
                _ => shape,
            };
        }
        shape
    }

    fn of_type(&self, found: &TSType<'a>, steps: u32) -> Shape {
        let Some(steps) = steps.checked_sub(1) else { return UNKNOWN };
        self.looked_at.set(self.looked_at.get() + 1);
        if self.looked_at.get() > MAX_TYPES {
            return UNKNOWN;
        }
        match found {
            TSType::TSFunctionType(_) | TSType::TSConstructorType(_) => CALLABLE,
            TSType::TSTypeLiteral(literal) if literal.members.iter().any(is_signature) => CALLABLE,
            TSType::TSTypeLiteral(_)
            | TSType::TSArrayType(_)
            | TSType::TSTupleType(_)
            | TSType::TSMappedType(_) => OBJECT,
            TSType::TSTypeReference(reference) => match &reference.type_name {
                TSTypeName::IdentifierReference(name) => self.named_type(&name.name, steps),
                _ => UNKNOWN,
            },
            TSType::TSTypeQuery(query) => match &query.expr_name {
                TSTypeQueryExprName::IdentifierReference(name) => self.value(&name.name, steps),
                TSTypeQueryExprName::TSImportType(import) if !relative(&import.source.value) => OTHER,
                _ => UNKNOWN,
            },
            TSType::TSImportType(import) if !relative(&import.source.value) => OTHER,
            TSType::TSParenthesizedType(inner) => self.of_type(&inner.type_annotation, steps),
            TSType::TSTypeOperatorType(inner) if inner.operator == TSTypeOperatorOperator::Readonly => {
                self.of_type(&inner.type_annotation, steps)
            }
            TSType::TSUnionType(union) => {
                let none = union.types.iter().all(|part| self.of_type(part, steps).callable == Some(false));
                Shape { callable: if none { Some(false) } else { None }, object: Some(false) }
            }
            TSType::TSIntersectionType(parts) => {
                let callable: Vec<_> =
                    parts.types.iter().map(|part| self.of_type(part, steps).callable).collect();
                let callable = if callable.contains(&Some(true)) {
                    Some(true)
                } else {
                    callable.iter().all(|one| *one == Some(false)).then_some(false)
                };
                Shape { callable, object: Some(false) }
            }
            TSType::TSConditionalType(_) | TSType::TSIndexedAccessType(_) | TSType::TSImportType(_) => {
                UNKNOWN
            }
            _ => OTHER,
        }
    }
}

fn is_signature(member: &TSSignature<'_>) -> bool {
    matches!(
        member,
        TSSignature::TSCallSignatureDeclaration(_) | TSSignature::TSConstructSignatureDeclaration(_)
    )
}

/// Whether a namespace is there when the program runs: not when it only has types.
fn instantiated(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    let mut body = &namespace.body;
    loop {
        match body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => body = &inner.body,
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                return block.body.iter().any(|statement| {
                    let declaration = match statement {
                        Statement::ExportDeclaration(export) => Some(&export.declaration),
                        other => other.as_declaration(),
                    };
                    match declaration {
                        Some(Declaration::TSInterfaceDeclaration(_) | Declaration::TSTypeAliasDeclaration(_)) => false,
                        Some(Declaration::TSNamespaceDeclaration(inner)) => instantiated(inner),
                        Some(_) => true,
                        None => matches!(statement, Statement::ExportNamedDeclaration(export) if !export.specifiers.is_empty()),
                    }
                });
            }
        }
    }
}
