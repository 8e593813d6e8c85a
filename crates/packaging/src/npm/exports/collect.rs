//! What one file declares, imports and exports.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, Expression, IdentifierReference, ImportDeclarationSpecifier,
    Program, Statement, TSExportAssignment, TSImportType, TSImportTypeQualifier, TSModuleReference,
    TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::ExportKind;
use super::text::{bare, normal};

/// A declaration.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) kind: ExportKind,
    pub(super) text: String,
    /// The names in it that something in the file may give a meaning.
    pub(super) names: BTreeSet<String>,
    /// Types from other files: specifier and name.
    pub(super) imports: BTreeSet<(String, String)>,
    /// For a namespace: what is in it.
    pub(super) inner: Option<Rc<Module>>,
}

/// A name of another file.
#[derive(Debug, Clone)]
pub(super) struct Import {
    pub(super) specifier: String,
    /// `*` for the whole, `export=` for what `import x = require(…)` gives.
    pub(super) name: String,
}

/// What a file exports under a name.
#[derive(Debug, Clone)]
pub(super) enum Export {
    /// Something that has a name in the file.
    Local(String),
    /// Something that has none.
    Inline(Declared),
    From(Import),
}

/// What a file, or a namespace, declares and exports.
#[derive(Debug, Clone, Default)]
pub(super) struct Module {
    pub(super) declared: BTreeMap<String, Vec<Declared>>,
    pub(super) imports: BTreeMap<String, Import>,
    pub(super) exports: BTreeMap<String, Export>,
    /// The specifiers of `export *`, in order.
    pub(super) stars: Vec<String>,
    /// Modules that are declared by name: `declare module "x" {}`.
    pub(super) ambient: BTreeMap<String, Rc<Module>>,
    /// Whether the file has `import` or `export`.
    pub(super) is_module: bool,
}

/// Reads a file; of a script the names only.
pub(super) fn collect(program: &Program<'_>, script: bool) -> Module {
    let comments: Vec<(u32, u32)> =
        program.comments.iter().map(|comment| (comment.span.start, comment.span.end)).collect();
    let reader = Reader { source: program.source_text, comments: &comments, script };
    let implicit = program.source_type.is_typescript_definition();
    reader.module(&program.body, implicit)
}

struct Reader<'s> {
    source: &'s str,
    comments: &'s [(u32, u32)],
    script: bool,
}

impl Reader<'_> {
    fn text(&self, span: Span) -> String {
        if self.script {
            String::new()
        } else {
            bare(&normal(self.source, span.start, span.end, self.comments)).to_owned()
        }
    }

    /// A list of statements. `implicit`: everything is exported unless something says what is.
    fn module(&self, statements: &[Statement<'_>], implicit: bool) -> Module {
        let mut module = Module::default();
        let mut listed = false;
        for statement in statements {
            module.is_module |= statement.is_module_declaration();
            listed |= self.statement(statement, &mut module);
        }
        if implicit && !listed {
            for name in module.declared.keys() {
                module.exports.entry(name.clone()).or_insert_with(|| Export::Local(name.clone()));
            }
        }
        module
    }

    /// Reads a statement; whether it is one that lists exports, so that nothing else is exported.
    fn statement(&self, statement: &Statement<'_>, module: &mut Module) -> bool {
        match statement {
            Statement::ImportDeclaration(import) => {
                for specifier in import.specifiers.iter().flatten() {
                    let (local, name) = match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(named) => {
                            (&named.local, named.imported.name().to_string())
                        }
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(named) => {
                            (&named.local, "default".to_owned())
                        }
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(named) => {
                            (&named.local, "*".to_owned())
                        }
                    };
                    let specifier = import.source.value.to_string();
                    module.imports.insert(local.name.to_string(), Import { specifier, name });
                }
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    let local = Export::Local(specifier.local.name().to_string());
                    module.exports.insert(specifier.exported.name().to_string(), local);
                }
                return true;
            }
            Statement::ExportFromDeclaration(export) => {
                for specifier in &export.specifiers {
                    let from = Import {
                        specifier: export.source.value.to_string(),
                        name: specifier.local.name().to_string(),
                    };
                    module.exports.insert(specifier.exported.name().to_string(), Export::From(from));
                }
                return true;
            }
            Statement::ExportAllDeclaration(export) => {
                let specifier = export.source.value.to_string();
                match &export.exported {
                    Some(name) => {
                        let from = Import { specifier, name: "*".to_owned() };
                        module.exports.insert(name.name().to_string(), Export::From(from));
                    }
                    None => module.stars.push(specifier),
                }
                return true;
            }
            Statement::ExportDefaultDeclaration(export) => return self.default(&export.declaration, module),
            Statement::TSExportAssignment(export) => {
                self.assignment(export, module);
                return true;
            }
            Statement::ExportDeclaration(export) => {
                for name in self.declaration(&export.declaration, module) {
                    module.exports.insert(name.clone(), Export::Local(name));
                }
            }
            other => {
                if let Some(declaration) = other.as_declaration() {
                    self.declaration(declaration, module);
                }
            }
        }
        false
    }

    fn default(&self, export: &ExportDefaultDeclarationKind<'_>, module: &mut Module) -> bool {
        let (id, kind) = match export {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                (function.id.as_ref(), ExportKind::Function)
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => (class.id.as_ref(), ExportKind::Class),
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => {
                (Some(&interface.id), ExportKind::Type)
            }
            ExportDefaultDeclarationKind::Identifier(name) => {
                module.exports.insert("default".to_owned(), Export::Local(name.name.to_string()));
                return true;
            }
            _ => (None, ExportKind::Value),
        };
        let mut found = Names::default();
        found.visit_export_default_declaration_kind(export);
        let declared = self.declared(kind, export.span(), found);
        match id {
            // Overloads are several declarations of one name.
            Some(id) => {
                module.declared.entry(id.name.to_string()).or_default().push(declared);
                module.exports.insert("default".to_owned(), Export::Local(id.name.to_string()));
            }
            None => match module.exports.get_mut("default") {
                Some(Export::Inline(first)) => {
                    first.text = format!("{};{}", first.text, declared.text);
                }
                _ => {
                    module.exports.insert("default".to_owned(), Export::Inline(declared));
                }
            },
        }
        export.is_expression()
    }

    fn assignment(&self, export: &TSExportAssignment<'_>, module: &mut Module) {
        let value = match &export.expression {
            Expression::Identifier(name) => Export::Local(name.name.to_string()),
            other => {
                let mut found = Names::default();
                found.visit_expression(other);
                Export::Inline(self.declared(ExportKind::Value, other.span(), found))
            }
        };
        module.exports.insert("export=".to_owned(), value);
    }

    fn declared(&self, kind: ExportKind, span: Span, names: Names) -> Declared {
        Declared { kind, text: self.text(span), names: names.names, imports: names.imports, inner: None }
    }

    /// Notes a declaration; the names that it declares.
    fn declaration(&self, declaration: &Declaration<'_>, module: &mut Module) -> Vec<String> {
        let (kind, id) = match declaration {
            Declaration::VariableDeclaration(list) => {
                let mut names = Vec::new();
                for declarator in &list.declarations {
                    let mut found = Names::default();
                    found.visit_variable_declarator(declarator);
                    let mut declared = self.declared(ExportKind::Value, declarator.span, found);
                    if !self.script {
                        declared.text = format!("{} {}", list.kind.as_str(), declared.text);
                    }
                    for name in declarator.id.get_binding_identifiers() {
                        module.declared.entry(name.name.to_string()).or_default().push(declared.clone());
                        names.push(name.name.to_string());
                    }
                }
                return names;
            }
            Declaration::FunctionDeclaration(function) => (ExportKind::Function, function.id.as_ref()),
            Declaration::ClassDeclaration(class) => (ExportKind::Class, class.id.as_ref()),
            Declaration::TSTypeAliasDeclaration(alias) => (ExportKind::Type, Some(&alias.id)),
            Declaration::TSInterfaceDeclaration(interface) => (ExportKind::Type, Some(&interface.id)),
            Declaration::TSEnumDeclaration(declared) => (ExportKind::Enum, Some(&declared.id)),
            Declaration::TSNamespaceDeclaration(namespace) => {
                let name = namespace.id.name.to_string();
                module.declared.entry(name.clone()).or_default().push(self.namespace(namespace));
                return vec![name];
            }
            Declaration::TSImportEqualsDeclaration(import) => {
                let name = import.id.name.to_string();
                if let TSModuleReference::ExternalModuleReference(reference) = &import.module_reference {
                    let specifier = reference.expression.value.to_string();
                    module.imports.insert(name.clone(), Import { specifier, name: "export=".to_owned() });
                    return vec![name];
                }
                (ExportKind::Value, Some(&import.id))
            }
            Declaration::TSExternalModuleDeclaration(ambient) => {
                let body = ambient.body.as_ref().map(|body| body.body.as_slice()).unwrap_or_default();
                module.ambient.insert(ambient.id.value.to_string(), Rc::new(self.module(body, true)));
                return Vec::new();
            }
            Declaration::TSGlobalDeclaration(_) => return Vec::new(),
        };
        let Some(id) = id else { return Vec::new() };
        let mut found = Names::default();
        found.visit_declaration(declaration);
        let declared = self.declared(kind, declaration.span(), found);
        module.declared.entry(id.name.to_string()).or_default().push(declared);
        vec![id.name.to_string()]
    }

    fn namespace(&self, namespace: &TSNamespaceDeclaration<'_>) -> Declared {
        let inner = match &namespace.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => self.module(&block.body, true),
            // `namespace a.b {}` is a namespace in a namespace.
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(nested) => {
                let mut module = Module::default();
                let name = nested.id.name.to_string();
                module.exports.insert(name.clone(), Export::Local(name.clone()));
                module.declared.insert(name, vec![self.namespace(nested)]);
                module
            }
        };
        Declared {
            kind: ExportKind::Namespace,
            text: String::new(),
            names: BTreeSet::new(),
            imports: BTreeSet::new(),
            inner: Some(Rc::new(inner)),
        }
    }
}

/// The names that a declaration is made of.
#[derive(Default)]
struct Names {
    names: BTreeSet<String>,
    imports: BTreeSet<(String, String)>,
}

impl<'a> Visit<'a> for Names {
    fn visit_identifier_reference(&mut self, name: &IdentifierReference<'a>) {
        self.names.insert(name.name.to_string());
    }

    fn visit_ts_import_type(&mut self, import: &TSImportType<'a>) {
        let mut qualifier = import.qualifier.as_ref();
        let mut name = "*".to_owned();
        while let Some(inner) = qualifier {
            qualifier = match inner {
                TSImportTypeQualifier::Identifier(first) => {
                    name = first.name.to_string();
                    None
                }
                TSImportTypeQualifier::QualifiedName(qualified) => Some(&qualified.left),
            };
        }
        self.imports.insert((import.source.value.to_string(), name));
        walk::walk_ts_import_type(self, import);
    }
}
