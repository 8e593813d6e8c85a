//! What JavaScript says of itself, as TypeScript's binder reads it: which of the two module syntaxes it has, and what it
//! exports (§3.6, "binder").

use std::collections::BTreeSet;

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentOperator, AssignmentTarget,
    BindingPattern, CallExpression, Class, Expression, FormalParameter, Function, FunctionBody, ImportMeta,
    ObjectExpression, ObjectProperty, ObjectPropertyKind, Program, Statement, UnaryOperator,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::value::{self, Value, Values};

/// What is known of a JavaScript file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::npm) struct Script {
    /// The first `import`, `export` or `import.meta`.
    pub(super) esm: Option<(u32, u32)>,
    /// What first made it `CommonJS`; never set along with `esm`.
    pub(super) cjs: Option<(u32, u32)>,
    /// Names on `exports`, `__esModule` and `default` among them.
    pub(super) exports: BTreeSet<String>,
    /// Where `default` is exported first.
    pub(super) default: Option<(u32, u32)>,
    /// For each `module.exports =` that counts: which function's body it is in, 0 for the file.
    pub(super) assigned: Vec<u32>,
    /// What `module.exports` is in the end, as far as syntax tells.
    pub(super) value: value::Kind,
    /// Names that bundlers' helpers export.
    pub(super) helpers: Vec<String>,
    /// The names of the object that `module.exports` is assigned.
    keys: BTreeSet<String>,
    /// The specifiers of those whose exports it passes on.
    passed_on: Vec<String>,
    /// Whether `module.exports` and `exports.default` are assigned in one chain, or one to the other.
    pub(super) same: bool,
    /// What `exports.default` is, as far as syntax tells.
    pub(super) default_value: value::Kind,
}

impl Script {
    pub(super) fn of(program: &Program<'_>) -> Self {
        let mut binder = Binder::default();
        binder.script.esm = program.body.iter().find(|statement| is_module_syntax(statement)).map(span);
        binder.visit_program(program);
        if binder.script.esm.is_none() {
            binder.script.esm = binder.meta.map(|meta| (meta.start, meta.end));
        }
        let Binder { mut script, values, module_values, default_values, .. } = binder;
        if script.esm.is_some() {
            return Self { esm: script.esm, ..Self::default() };
        }
        script.default_value = values.kind_of_all(&default_values);
        script.value = values.kind_of_all(&module_values);
        script.helpers = super::bundled::names(program);
        script
    }

    /// Whether the binder takes it for a module of either kind.
    pub(super) fn is_module(&self) -> bool {
        self.esm.is_some() || self.cjs.is_some()
    }

    /// Whether it has a default export: `None` when TypeScript's checker would have to say.
    pub(super) fn has_default(&self) -> Option<bool> {
        let helper = self.helpers.iter().any(|name| name == "default");
        if self.exports.contains("default") || helper {
            return Some(true);
        }
        if self.assigned.is_empty() { Some(false) } else { self.value.has_default() }
    }

    /// The names that it exports as `CommonJS`; `export=` when `module.exports` is something of its own.
    pub(in crate::npm) fn names(&self) -> BTreeSet<String> {
        let named = self.exports.iter().chain(&self.keys).chain(&self.helpers);
        let mut names: BTreeSet<String> = named.filter(|name| *name != "__esModule").cloned().collect();
        if !self.assigned.is_empty() && self.keys.is_empty() && self.passed_on.is_empty() {
            names.insert("export=".to_owned());
        }
        names
    }

    /// The specifiers of the files whose exports it passes on.
    pub(in crate::npm) fn passed_on(&self) -> impl Iterator<Item = &str> {
        self.passed_on.iter().map(String::as_str)
    }

    /// Whether it can be judged at all: it exports something, and does not assign `module.exports` in several functions.
    pub(super) fn is_analyzable(&self) -> bool {
        let one_body = self.assigned.windows(2).all(|pair| pair.first() == pair.last());
        one_body && (!self.exports.is_empty() || !self.assigned.is_empty() || !self.helpers.is_empty())
    }

    /// Whether it exports other names than `default`: `module.exports =` counts as one.
    pub(super) fn has_other_names(&self) -> bool {
        let other = |name: &String| name != "default" && name != "__esModule";
        !self.assigned.is_empty() || self.exports.iter().any(other) || self.helpers.iter().any(other)
    }
}

fn span(node: &impl GetSpan) -> (u32, u32) {
    let span = node.span();
    (span.start, span.end)
}

fn is_module_syntax(statement: &Statement<'_>) -> bool {
    matches!(
        statement,
        Statement::ImportDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportDefaultDeclaration(_)
            | Statement::ExportDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::TSExportAssignment(_)
    )
}

/// Follows TypeScript's order: of a list of statements, the function declarations come first.
#[derive(Default)]
struct Binder {
    script: Script,
    meta: Option<Span>,
    /// Functions, classes and object literals that are around.
    containers: u32,
    /// The bodies of functions that are around.
    bodies: Vec<u32>,
    last_body: u32,
    /// Functions that have a `this` of their own.
    own_this: u32,
    /// Variables of the file that stand for `exports`.
    aliases: BTreeSet<String>,
    values: Values,
    /// With each, whether it stands outside of functions.
    module_values: Vec<(Value, bool)>,
    default_values: Vec<(Value, bool)>,
}

impl Binder {
    /// Notes a sign of `CommonJS`; `false` when the file is an ES module and none counts.
    fn commonjs(&mut self, at: Span) -> bool {
        if self.script.esm.is_some() {
            return false;
        }
        self.script.cjs.get_or_insert((at.start, at.end));
        true
    }

    fn export(&mut self, name: &str, at: Span) {
        if name == "default" && self.script.default.is_none() {
            self.script.default = Some((at.start, at.end));
        }
        self.script.exports.insert(name.to_owned());
    }

    fn declare(&mut self, name: &str, value: Value) {
        self.values.declare(name, value, self.containers == 0);
    }

    fn assignment(&mut self, node: &AssignmentExpression<'_>) {
        if node.operator != AssignmentOperator::Assign {
            return;
        }
        let assigned = last_assigned(&node.right);
        let Some(member) = node.left.as_member_expression() else { return };
        if is_void_zero(assigned) {
            return;
        }
        if matches!(member.object(), Expression::ThisExpression(_)) {
            let name = value::member_name(member);
            if let Some(name) = name.filter(|_| self.own_this == 0 && self.script.cjs.is_some()) {
                self.export(&name, member.span());
            }
            return;
        }
        let Some(path) = value::path(member) else { return };
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        if let [.., name, "default"] = parts.as_slice() {
            self.values.expando(if parts.len() == 2 { name } else { "" });
        }
        match parts.as_slice() {
            ["module", "exports"] => self.module_exports(node, assigned),
            [.., "prototype", _] => {}
            [.., "prototype"] if matches!(assigned, Expression::ObjectExpression(_)) => {}
            ["exports", name] | ["module", "exports", name] if self.commonjs(node.span) => {
                self.export(name, member.span());
                if *name == "default" {
                    self.script.same |=
                        self.default_values.is_empty() && value::chain_has(node, &["module", "exports"]);
                    self.default_values.push((Value::of(&node.right), self.containers == 0));
                }
            }
            ["exports", ..] | ["module", "exports", ..] => {
                self.commonjs(node.span);
            }
            [alias, name]
                if self.containers == 0 && self.aliases.contains(*alias) && self.commonjs(node.span) =>
            {
                self.export(name, member.span());
            }
            _ => {}
        }
    }

    fn module_exports(&mut self, node: &AssignmentExpression<'_>, assigned: &Expression<'_>) {
        if !self.commonjs(node.span) {
            return;
        }
        if self.containers == 0 && self.stands_for_exports(assigned) {
            return;
        }
        if let Expression::ObjectExpression(object) = assigned {
            let names = object.properties.iter().map_while(|property| match property {
                ObjectPropertyKind::ObjectProperty(property) if property.shorthand => {
                    property.key.static_name()
                }
                _ => None,
            });
            let names: Vec<_> = names.collect();
            if names.len() == object.properties.len() {
                for name in names {
                    self.export(&name, node.span);
                }
                return;
            }
            let keys =
                object.properties.iter().filter_map(|property| property.as_property()?.key.static_name());
            self.script.keys.extend(keys.map(|key| key.to_string()));
        }
        self.script.passed_on.extend(required(assigned));
        self.script.assigned.push(self.bodies.last().copied().unwrap_or(0));
        self.script.same |= self.module_values.is_empty() && value::chain_has(node, &["exports", "default"]);
        self.module_values.push((Value::of(assigned), self.containers == 0));
    }

    fn stands_for_exports(&self, expression: &Expression<'_>) -> bool {
        match expression {
            Expression::Identifier(name) => {
                name.name == "exports" || self.aliases.contains(name.name.as_str())
            }
            Expression::AssignmentExpression(inner) if inner.operator == AssignmentOperator::Assign => {
                let left = match &inner.left {
                    AssignmentTarget::AssignmentTargetIdentifier(name) => {
                        name.name == "exports" || self.aliases.contains(name.name.as_str())
                    }
                    target => target
                        .as_member_expression()
                        .is_some_and(|member| member.is_specific_member_access("module", "exports")),
                };
                left || self.stands_for_exports(&inner.right)
            }
            other => other
                .as_member_expression()
                .is_some_and(|member| member.is_specific_member_access("module", "exports")),
        }
    }
}

/// The last of `a = b = c`.
fn last_assigned<'e, 'a>(mut expression: &'e Expression<'a>) -> &'e Expression<'a> {
    while let Expression::AssignmentExpression(inner) = expression {
        if inner.operator != AssignmentOperator::Assign {
            break;
        }
        expression = &inner.right;
    }
    expression
}

/// The specifier of `require("…")`.
fn required(expression: &Expression<'_>) -> Option<String> {
    let Expression::CallExpression(call) = expression else { return None };
    call.common_js_require().map(|specifier| specifier.value.to_string())
}

fn is_void_zero(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::UnaryExpression(unary)
        if unary.operator == UnaryOperator::Void && unary.argument.is_specific_raw_number_literal("0"))
}

impl<'a> Visit<'a> for Binder {
    fn visit_statements(&mut self, statements: &oxc_allocator::Vec<'a, Statement<'a>>) {
        let (first, rest): (Vec<_>, Vec<_>) =
            statements.iter().partition(|statement| matches!(statement, Statement::FunctionDeclaration(_)));
        first.into_iter().chain(rest).for_each(|statement| self.visit_statement(statement));
    }

    fn visit_import_meta(&mut self, meta: &ImportMeta) {
        self.meta.get_or_insert(meta.span);
    }

    fn visit_assignment_expression(&mut self, node: &AssignmentExpression<'a>) {
        self.assignment(node);
        walk::walk_assignment_expression(self, node);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let on_exports = |target: &Expression<'_>| {
            target.is_specific_id("exports") || target.is_specific_member_access("module", "exports")
        };
        if call.callee.is_specific_member_access("Object", "defineProperty")
            && let [target, name, _] = call.arguments.as_slice()
            && target.as_expression().is_some_and(on_exports)
            && let Some(name) = name.as_expression().and_then(value::literal)
            && matches!(call.callee, Expression::StaticMemberExpression(_))
        {
            if self.commonjs(call.span) {
                self.export(&name, call.span);
            }
        } else if call.callee.is_specific_id("require") && call.arguments.len() == 1 {
            self.commonjs(call.span);
        }
        // `__exportStar(require("./x"), exports)` and `__export(require("./x"))`.
        let helper = match &call.callee {
            Expression::Identifier(name) => Some(name.name.as_str()),
            callee => {
                callee.as_member_expression().and_then(oxc_ast::ast::MemberExpression::static_property_name)
            }
        };
        if matches!(helper, Some("__exportStar" | "__export")) {
            let first = call.arguments.first().and_then(Argument::as_expression);
            self.script.passed_on.extend(first.and_then(required));
        }
        let named = |argument: &Argument<'_>| {
            argument.as_expression().and_then(value::literal).is_some_and(|text| text == "default")
        };
        if call.callee.is_specific_member_access("Object", "defineProperty")
            && call.arguments.iter().any(named)
        {
            self.values.has_defaults();
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        if let BindingPattern::BindingIdentifier(name) = &declarator.id {
            let init = declarator.init.as_ref();
            if self.containers == 0 && init.is_some_and(|init| self.stands_for_exports(init)) {
                self.aliases.insert(name.name.to_string());
            }
            self.declare(&name.name, init.map_or(Value::Unknown, Value::of));
        } else {
            let source = declarator.init.as_ref().map_or(Value::Unknown, Value::of);
            for name in declarator.id.get_binding_identifiers() {
                self.declare(&name.name, Value::From(Box::new(source.clone())));
            }
        }
        walk::walk_variable_declarator(self, declarator);
    }

    fn visit_object_property(&mut self, property: &ObjectProperty<'a>) {
        if property.key.static_name().is_some_and(|name| name == "default") {
            self.values.has_defaults();
        }
        walk::walk_object_property(self, property);
    }

    fn visit_formal_parameter(&mut self, parameter: &FormalParameter<'a>) {
        for name in parameter.pattern.get_binding_identifiers() {
            self.values.declare(&name.name, Value::Unknown, false);
        }
        walk::walk_formal_parameter(self, parameter);
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        if let Some(name) = function.id.as_ref().filter(|_| function.is_declaration()) {
            self.declare(&name.name, Value::Function);
        }
        self.containers += 1;
        self.own_this += 1;
        walk::walk_function(self, function, flags);
        self.own_this -= 1;
        self.containers -= 1;
    }

    fn visit_arrow_function_expression(&mut self, function: &ArrowFunctionExpression<'a>) {
        self.containers += 1;
        walk::walk_arrow_function_expression(self, function);
        self.containers -= 1;
    }

    fn visit_function_body(&mut self, body: &FunctionBody<'a>) {
        self.last_body += 1;
        self.bodies.push(self.last_body);
        walk::walk_function_body(self, body);
        self.bodies.pop();
    }

    fn visit_class(&mut self, class: &Class<'a>) {
        if let Some(name) = class.id.as_ref().filter(|_| class.is_declaration()) {
            self.declare(&name.name, Value::of_class(class));
        }
        self.containers += 1;
        self.own_this += 1;
        walk::walk_class(self, class);
        self.own_this -= 1;
        self.containers -= 1;
    }

    fn visit_object_expression(&mut self, object: &ObjectExpression<'a>) {
        self.containers += 1;
        walk::walk_object_expression(self, object);
        self.containers -= 1;
    }
}
