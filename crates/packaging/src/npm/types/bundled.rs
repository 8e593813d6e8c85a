//! What bundlers' helpers export: patterns that TypeScript's binder does not see (§3.6, `FalseExportDefault`).

use oxc_ast::ast::{
    Argument, ArrowFunctionBody, AssignmentExpression, AssignmentOperator, BindingPattern, CallExpression,
    Expression, ObjectExpression, ObjectPropertyKind, Program, PropertyKind, Statement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;

use super::value;

/// The names, in the file's order.
pub(super) fn names(program: &Program<'_>) -> Vec<String> {
    helper(program).or_else(|| bootstrap(program)).unwrap_or_default()
}

/// `__export(exports, { a: () => a })`, as esbuild, Babel and SWC write it; `None` when there is none.
fn helper(program: &Program<'_>) -> Option<Vec<String>> {
    let text = program.source_text;
    let place = text.find("\n__export(").or_else(|| text.find("\n_export("));
    if place.is_none() && !looks_minified(text) {
        return None;
    }
    let mut last_end = 0;
    for statement in &program.body {
        let span = statement.span();
        let starts_after = place.is_some_and(|place| last_end > place);
        last_end = span.end as usize;
        if starts_after {
            return None;
        }
        if place.is_some_and(|place| last_end < place) {
            continue;
        }
        let Statement::ExpressionStatement(statement) = statement else { continue };
        let Expression::CallExpression(call) = &statement.expression else { continue };
        let (Expression::Identifier(callee), [Argument::Identifier(_), Argument::ObjectExpression(object)]) =
            (&call.callee, call.arguments.as_slice())
        else {
            continue;
        };
        if matches!(callee.name.as_str(), "__export" | "_export") || copies_getters(program, &callee.name) {
            return Some(keys(object));
        }
    }
    None
}

fn keys(object: &ObjectExpression<'_>) -> Vec<String> {
    let key = |property: &ObjectPropertyKind<'_>| match property {
        ObjectPropertyKind::ObjectProperty(property)
            if property.kind == PropertyKind::Init && !property.method && !property.computed =>
        {
            property.key.static_name().map(|name| name.to_string())
        }
        _ => None,
    };
    object.properties.iter().filter_map(key).collect()
}

/// Whether a variable of the file is a function that does nothing but loop over the names of its argument.
fn copies_getters(program: &Program<'_>, name: &str) -> bool {
    let loops = |statements: &[Statement<'_>]| matches!(statements, [Statement::ForInStatement(_)]);
    program.body.iter().any(|statement| {
        let Statement::VariableDeclaration(declaration) = statement else { return false };
        declaration.declarations.iter().any(|declarator| {
            let named = matches!(&declarator.id, BindingPattern::BindingIdentifier(id) if id.name == name);
            named
                && match &declarator.init {
                    Some(Expression::FunctionExpression(function)) => {
                        function.body.as_ref().is_some_and(|body| loops(&body.statements))
                    }
                    Some(Expression::ArrowFunctionExpression(function)) => match &function.body {
                        ArrowFunctionBody::FunctionBody(body) => loops(&body.statements),
                        _ => false,
                    },
                    _ => false,
                }
        })
    })
}

/// Whether a declaration with a name of one letter stands right behind a statement: `;var a=`.
fn looks_minified(text: &str) -> bool {
    [";var ", ";let ", ";const "].iter().any(|keyword| {
        text.match_indices(keyword).any(|(place, found)| {
            let mut after = text.get(place + found.len()..).unwrap_or_default().chars();
            let before = text.get(..place).and_then(|before| before.chars().next_back());
            before.is_some_and(|c| !c.is_whitespace())
                && after.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                && after.next() == Some('=')
                && after.next().is_some_and(|c| !c.is_whitespace())
        })
    })
}

/// `module.exports = (function (modules) { … return load(0) })([function (module, exports) { … }])`: webpack's.
fn bootstrap(program: &Program<'_>) -> Option<Vec<String>> {
    program.body.iter().find_map(|statement| {
        let Statement::ExpressionStatement(statement) = statement else { return None };
        let Expression::AssignmentExpression(assignment) = &statement.expression else { return None };
        let target = assignment.left.as_member_expression()?;
        if assignment.operator != AssignmentOperator::Assign
            || !target.is_specific_member_access("module", "exports")
        {
            return None;
        }
        let Expression::CallExpression(call) = &assignment.right else { return None };
        let entry = entry_module(call)?;
        let [Argument::ArrayExpression(modules)] = call.arguments.as_slice() else { return None };
        let Expression::FunctionExpression(module) = modules.elements.get(entry)?.as_expression()? else {
            return None;
        };
        let BindingPattern::BindingIdentifier(exports) = &module.params.items.get(1)?.pattern else {
            return None;
        };
        let mut assigned = Assigned { object: exports.name.to_string(), names: Vec::new() };
        assigned.visit_function_body(module.body.as_ref()?);
        Some(assigned.names)
    })
}

/// The number that the bootstrap function returns the module of.
fn entry_module(call: &CallExpression<'_>) -> Option<usize> {
    let Expression::FunctionExpression(bootstrap) = &call.callee else { return None };
    let returned = bootstrap.body.as_ref()?.statements.iter().find_map(|statement| match statement {
        Statement::ReturnStatement(statement) => statement.argument.as_ref(),
        _ => None,
    })?;
    let last = match returned {
        Expression::SequenceExpression(list) => list.expressions.last()?,
        other => other,
    };
    let Expression::CallExpression(load) = last else { return None };
    let [argument] = load.arguments.as_slice() else { return None };
    let mut number = argument.as_expression()?;
    while let Expression::AssignmentExpression(assignment) = number {
        number = &assignment.right;
    }
    value::literal(number).filter(|_| matches!(number, Expression::NumericLiteral(_)))?.parse().ok()
}

struct Assigned {
    object: String,
    names: Vec<String>,
}

impl<'a> Visit<'a> for Assigned {
    fn visit_assignment_expression(&mut self, node: &AssignmentExpression<'a>) {
        if node.operator == AssignmentOperator::Assign
            && let Some(member) = node.left.as_member_expression()
            && member.object().is_specific_id(&self.object)
            && let Some(name) = value::member_name(member)
        {
            self.names.push(name);
        }
        walk::walk_assignment_expression(self, node);
    }
}
