//! What an expression is, as far as syntax tells: enough to know whether it can be called and has a `default`.

use std::collections::{BTreeMap, BTreeSet};

use oxc_ast::ast::{
    AssignmentExpression, AssignmentOperator, AssignmentTarget, Class, ClassElement, Expression,
    MemberExpression, ObjectPropertyKind,
};

/// How many names and expressions are followed from one.
const MAX_STEPS: u32 = 32;

/// An expression, cut down to what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Function,
    /// And whether it has a static member `default`.
    Class(bool),
    /// And whether it has a member `default`.
    Object(bool),
    Primitive,
    /// What TypeScript gives the type `any`: something from another file.
    Any,
    /// A name that something else in the file gives a meaning.
    Name(String),
    /// Something taken from, or returned by, this.
    From(Box<Value>),
    Unknown,
}

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kind {
    /// Whether it can be called or constructed.
    pub(super) callable: Option<bool>,
    /// Whether it has a member `default`.
    default: Option<bool>,
    /// Whether TypeScript takes it for anything (`any`).
    pub(super) any: bool,
}

impl Kind {
    /// Whether it has a member `default`.
    pub(super) fn has_default(self) -> Option<bool> {
        self.default
    }
}

impl Value {
    pub(super) fn of(expression: &Expression<'_>) -> Self {
        Self::bounded(expression, MAX_STEPS)
    }

    fn bounded(expression: &Expression<'_>, steps: u32) -> Self {
        let Some(steps) = steps.checked_sub(1) else { return Self::Unknown };
        match expression {
            Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) => Self::Function,
            Expression::ClassExpression(class) => Self::of_class(class),
            Expression::ObjectExpression(object) => {
                let mut default = false;
                for property in &object.properties {
                    let ObjectPropertyKind::ObjectProperty(property) = property else { return Self::Unknown };
                    if property.computed && literal_key(&property.key).is_none() {
                        return Self::Unknown;
                    }
                    default |= property.key.static_name().is_some_and(|name| name == "default");
                }
                Self::Object(default)
            }
            Expression::ArrayExpression(_) | Expression::RegExpLiteral(_) => Self::Object(false),
            Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::StringLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::BinaryExpression(_)
            | Expression::UnaryExpression(_)
            | Expression::UpdateExpression(_) => Self::Primitive,
            Expression::Identifier(name) if name.name == "undefined" => Self::Primitive,
            Expression::Identifier(name) => Self::Name(name.name.to_string()),
            Expression::CallExpression(call) if call.callee.is_specific_id("require") => Self::Any,
            Expression::CallExpression(call) => Self::From(Box::new(Self::bounded(&call.callee, steps))),
            Expression::NewExpression(call) => Self::From(Box::new(Self::bounded(&call.callee, steps))),
            Expression::AssignmentExpression(inner) if inner.operator == AssignmentOperator::Assign => {
                Self::bounded(&inner.right, steps)
            }
            Expression::SequenceExpression(list) => {
                list.expressions.last().map_or(Self::Unknown, |last| Self::bounded(last, steps))
            }
            Expression::ConditionalExpression(either) => {
                Self::bounded(&either.consequent, steps).or(Self::bounded(&either.alternate, steps))
            }
            Expression::LogicalExpression(either) => {
                Self::bounded(&either.left, steps).or(Self::bounded(&either.right, steps))
            }
            other => match other.as_member_expression() {
                // Which of the two is the other cannot be told by TypeScript either.
                Some(member) if is_exports(member) => Self::Any,
                Some(member) => Self::From(Box::new(Self::bounded(member.object(), steps))),
                None => Self::Unknown,
            },
        }
    }

    fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }

    pub(super) fn of_class(class: &Class<'_>) -> Self {
        let default = class.body.body.iter().any(|element| {
            let (is_static, key) = match element {
                ClassElement::MethodDefinition(method) => (method.r#static, &method.key),
                ClassElement::PropertyDefinition(property) => (property.r#static, &property.key),
                _ => return false,
            };
            is_static && key.static_name().is_some_and(|name| name == "default")
        });
        Self::Class(default)
    }
}

/// What the names of a file stand for.
#[derive(Default)]
pub(super) struct Values {
    /// Those that are declared outside of functions.
    top: BTreeMap<String, Vec<Value>>,
    /// All, wherever they are declared.
    all: BTreeMap<String, Vec<Value>>,
    /// Names that are given a member `default`.
    expandos: BTreeSet<String>,
    /// Whether anything in the file is.
    defaults: bool,
}

impl Values {
    /// Notes a declaration, and whether it is outside of functions.
    pub(super) fn declare(&mut self, name: &str, value: Value, top: bool) {
        let maps = [Some(&mut self.all), top.then_some(&mut self.top)];
        for names in maps.into_iter().flatten() {
            let known = names.entry(name.to_owned()).or_default();
            // Two say as much as more: that it is not clear.
            if known.len() < 2 {
                known.push(value.clone());
            }
        }
    }

    /// Notes `name.default = …`.
    pub(super) fn expando(&mut self, name: &str) {
        self.defaults = true;
        self.expandos.insert(name.to_owned());
    }

    /// Notes that something in the file has a member `default`. When nothing does, nothing needs to be known of a value
    /// to say that it has none.
    pub(super) fn has_defaults(&mut self) {
        self.defaults = true;
    }

    /// What something is that is each of these in turn. With each: whether it stands outside of functions, so that its
    /// names are those declared there.
    pub(super) fn kind_of_all(&self, values: &[(Value, bool)]) -> Kind {
        let mut kinds = values.iter().map(|(value, top)| self.kind(value, *top, MAX_STEPS));
        let Some(mut all) = kinds.next() else { return Kind::default() };
        for kind in kinds {
            if all.any || kind.any {
                return ANY;
            }
            if all != kind {
                all = Kind::default();
            }
        }
        if !self.defaults {
            all.default = Some(false);
        }
        all
    }

    fn kind(&self, value: &Value, top: bool, steps: u32) -> Kind {
        let Some(steps) = steps.checked_sub(1) else { return Kind::default() };
        match value {
            Value::Function => known(true, false),
            Value::Class(default) => known(true, *default),
            Value::Object(default) => known(false, *default),
            Value::Primitive => known(false, false),
            Value::Any => ANY,
            Value::Unknown => Kind::default(),
            Value::From(source) if self.kind(source, top, steps).any => ANY,
            Value::From(_) => Kind::default(),
            Value::Name(name) => match if top { &self.top } else { &self.all }.get(name).map(Vec::as_slice) {
                // A name that nothing in the file declares is unknown to TypeScript too.
                None if !matches!(name.as_str(), "exports" | "module" | "this" | "arguments") => ANY,
                Some([value]) => {
                    let mut kind = self.kind(value, top, steps);
                    if self.expandos.contains(name) && !kind.any {
                        kind.default = kind.default.map(|_| true);
                    }
                    kind
                }
                _ => Kind::default(),
            },
        }
    }
}

const ANY: Kind = Kind { callable: Some(false), default: Some(false), any: true };

fn known(callable: bool, default: bool) -> Kind {
    Kind { callable: Some(callable), default: Some(default), any: false }
}

/// `module.exports`, `exports.default` or `module.exports.default`.
fn is_exports(member: &MemberExpression<'_>) -> bool {
    path(member).is_some_and(|names| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        matches!(
            names.as_slice(),
            ["module", "exports"] | ["exports", "default"] | ["module", "exports", "default"]
        )
    })
}

/// The text of a string or a number.
pub(super) fn literal(expression: &Expression<'_>) -> Option<String> {
    match expression {
        Expression::StringLiteral(text) => Some(text.value.to_string()),
        Expression::NumericLiteral(number) => Some(number.value.to_string()),
        Expression::TemplateLiteral(template) => template.single_quasi().map(|text| text.to_string()),
        _ => None,
    }
}

fn literal_key(key: &oxc_ast::ast::PropertyKey<'_>) -> Option<String> {
    key.as_expression().and_then(literal)
}

/// The name behind the last dot, or in the last brackets.
pub(super) fn member_name(member: &MemberExpression<'_>) -> Option<String> {
    match member {
        MemberExpression::StaticMemberExpression(member) => Some(member.property.name.to_string()),
        MemberExpression::ComputedMemberExpression(member) => literal(&member.expression),
        MemberExpression::PrivateFieldExpression(_) => None,
    }
}

/// The names of `a.b["c"]`; `None` when there is more to it.
pub(super) fn path(member: &MemberExpression<'_>) -> Option<Vec<String>> {
    let mut names = vec![member_name(member)?];
    let mut object = member.object();
    loop {
        if let Some(inner) = object.as_member_expression() {
            names.push(member_name(inner)?);
            object = inner.object();
        } else if let Expression::Identifier(name) = object {
            names.push(name.name.to_string());
            names.reverse();
            return Some(names);
        } else {
            return None;
        }
    }
}

/// Whether a chain of assignments, or the value at its end, has this path: `exports` alone stands for `module.exports`.
pub(super) fn chain_has(node: &AssignmentExpression<'_>, wanted: &[&str]) -> bool {
    let is = |names: Option<Vec<String>>| {
        names.is_some_and(|names| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let names =
                if names.first() == Some(&"module") && names.len() == 3 { &names[1..] } else { &names[..] };
            names == wanted
        })
    };
    let mut node = node;
    loop {
        let left = match &node.left {
            AssignmentTarget::AssignmentTargetIdentifier(name) => {
                name.name == "exports" && wanted == ["module", "exports"]
            }
            target => is(target.as_member_expression().and_then(path)),
        };
        if left {
            return true;
        }
        match &node.right {
            Expression::AssignmentExpression(inner) if inner.operator == AssignmentOperator::Assign => {
                node = inner;
            }
            Expression::Identifier(name) => return name.name == "exports" && wanted == ["module", "exports"],
            right => return is(right.as_member_expression().and_then(path)),
        }
    }
}
