//! From sources to resolved tokens, for the default and for every mode.

use std::collections::BTreeMap;

use crate::diagnostic::{At, Diagnostics};
use crate::emit::{Output, Platform};
use crate::extends;
use crate::json;
use crate::options::{ModeOptions, Options};
use crate::resolve::{Tokens, resolve};
use crate::resolver;
use crate::studio;
use crate::tree::{self, Group};
use crate::value::Value;
use crate::{Diagnostic, emit};

/// Gives texts by name.
pub trait Loader {
    /// The text of the file called `name`; `Err` says why there is none.
    fn load(&self, name: &str) -> Result<String, String>;

    /// The name and text of `reference` as it stands in the file called `from`.
    fn relative(&self, from: &str, reference: &str) -> Result<(String, String), String> {
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for part in reference.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or("it leads out of the root")?;
                }
                part => parts.push(part),
            }
        }
        let name = parts.join("/");
        let text = self.load(&name)?;
        Ok((name, text))
    }
}

impl Loader for BTreeMap<String, String> {
    fn load(&self, name: &str) -> Result<String, String> {
        self.get(name).cloned().ok_or_else(|| "no such file".to_owned())
    }
}

/// One mode, resolved.
#[derive(Debug, Clone)]
pub struct Mode {
    /// How it is called and when it is in force.
    pub options: ModeOptions,
    /// Its tokens, all of them.
    pub tokens: Tokens,
}

/// A name for a set of tokens: the default's is empty.
pub type Permutation<'a> = (&'a str, &'a Tokens);

/// Resolved tokens of the default and of every mode.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// The default.
    pub tokens: Tokens,
    /// The modes, in the order of the options.
    pub modes: Vec<Mode>,
    /// Warnings; errors have prevented this value.
    pub warnings: Vec<Diagnostic>,
}

/// Two colours that are seen together, in one mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The token in front.
    pub foreground: String,
    /// The token behind it.
    pub background: String,
    /// The mode; empty for the default.
    pub mode: String,
    /// The least contrast that they may have.
    pub minimum: f64,
    /// What they have (WCAG 2.2); `None` where one of them is no colour in this mode.
    pub ratio: Option<f64>,
    pub(crate) at: Option<At>,
}

/// Compiles `sources` (names that `loader` knows, later ones laid over earlier ones).
///
/// Deep nesting and long chains of references need stack: the work is done on a thread that has enough of it.
pub fn compile(
    sources: &[String],
    loader: &(dyn Loader + Sync),
    options: &Options,
) -> Result<Compiled, Vec<Diagnostic>> {
    on_a_deep_stack(|| {
        let Outcome { compiled, diagnostics } = outcome(sources, loader, options);
        let found = diagnostics.sorted();
        if diagnostics.has_errors() { Err(found) } else { Ok(Compiled { warnings: found, ..compiled }) }
    })
}

/// Does `work` on a thread whose stack is deep enough for whatever files hold.
pub(crate) fn on_a_deep_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("design-tokens".into()).stack_size(STACK);
        match thread.spawn_scoped(scope, &work) {
            Ok(running) => match running.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(_) => work(),
        }
    })
}

/// Stack of the compiling thread; only what is used is ever real memory.
const STACK: usize = 512 * 1024 * 1024;

/// What became of sources: the tokens that could be resolved, and what was said of them.
pub(crate) struct Outcome {
    /// Without warnings. Where there are errors, what they are about is missing.
    pub(crate) compiled: Compiled,
    pub(crate) diagnostics: Diagnostics,
}

/// As [`compile`], with the files, and with what there is beside errors; on this thread.
pub(crate) fn outcome(sources: &[String], loader: &dyn Loader, options: &Options) -> Outcome {
    let mut diagnostics = Diagnostics::default();
    let tokens = one(sources, sources.len(), &options.contexts, loader, options, &mut diagnostics);
    let mut modes = Vec::new();
    for mode in &options.modes {
        let mut contexts = options.contexts.clone();
        contexts.extend(mode.contexts.clone());
        let all: Vec<String> = sources.iter().chain(&mode.sources).cloned().collect();
        let of_mode = one(&all, sources.len(), &contexts, loader, options, &mut diagnostics);
        check_mode_only(&tokens, &of_mode, &mode.name, &mut diagnostics);
        let tokens = of_mode;
        modes.push(Mode { options: mode.clone(), tokens });
    }
    check_options(options, &mut diagnostics);
    check_names(&tokens, options, &mut diagnostics);
    for mode in &modes {
        check_names(&mode.tokens, options, &mut diagnostics);
    }
    let compiled = Compiled { tokens, modes, warnings: Vec::new() };
    if !diagnostics.has_errors() {
        compiled.check_contrast(options, &mut diagnostics);
        compiled.check_unused(&mut diagnostics);
    }
    Outcome { compiled, diagnostics }
}

/// A token that only a mode has is more often a slip of the pen than meant.
fn check_mode_only(base: &Tokens, of_mode: &Tokens, mode: &str, diagnostics: &mut Diagnostics) {
    for (id, token) in of_mode.iter().filter(|(id, _)| !base.contains_key(*id)) {
        let scored = base.keys().map(|known| (strsim::jaro_winkler(id, known), known));
        let close = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.9);
        let fix = close.map_or_else(
            || "add it to the default".to_owned(),
            |(_, known)| format!("did you mean {known}?"),
        );
        diagnostics.warn(
            token.at,
            "mode-only",
            format!("{id} is in the mode {mode} and not in the default"),
            fix,
        );
    }
}

/// Reads `sources`; of the first `base`, none should say again what another has said.
fn one(
    sources: &[String],
    base: usize,
    contexts: &BTreeMap<String, String>,
    loader: &dyn Loader,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Tokens {
    let mut merged = Group::default();
    // Whether any source has contexts to choose from.
    let mut chooses = false;
    for (index, name) in sources.iter().enumerate() {
        let text = match loader.load(name) {
            Ok(text) => text,
            Err(why) => {
                let file = diagnostics.add_file(name, "");
                diagnostics.error(
                    At { file, offset: 0 },
                    "source",
                    format!("{name}: {why}"),
                    "check the path",
                );
                continue;
            }
        };
        let Some(node) = json::parse(name, &text, diagnostics) else { continue };
        let group = if resolver::is_document(&node) {
            chooses = true;
            resolver::tree(name, &node, contexts, loader, diagnostics)
        } else if studio::has_themes(&node) {
            chooses = true;
            studio::tree(name, &node, contexts, loader, diagnostics)
        } else {
            tree::read(&node, diagnostics)
        };
        if (1..base).contains(&index) {
            merged.warn_redefined(&group, &mut Vec::new(), diagnostics);
        }
        merged.merge(group, diagnostics);
    }
    if let (false, Some((name, _))) = (chooses, contexts.first_key_value()) {
        let message = format!("no source has anything to choose from, but the context {name:?} is chosen");
        let fix = "name a resolver document, or Tokens Studio's $themes.json, as the source";
        diagnostics.error(At { file: u32::MAX, offset: 0 }, "contexts", message, fix);
    }
    extends::expand(&mut merged, diagnostics);
    resolve(&merged, options, diagnostics)
}

fn check_options(options: &Options, diagnostics: &mut Diagnostics) {
    let at = At { file: u32::MAX, offset: 0 };
    if options.px_per_rem.is_some_and(|n| !n.is_finite() || n <= 0.0) {
        diagnostics.error(at, "options", "px-per-rem is not a positive number", "16 is usual");
    }
    let mut names: Vec<&str> = options.modes.iter().map(|m| m.name.as_str()).collect();
    names.sort_unstable();
    if names.iter().any(|n| n.is_empty()) || names.windows(2).any(|w| w[0] == w[1]) {
        diagnostics.error(at, "options", "every mode needs a name of its own", "check [[tokens.modes]]");
    }
    for mode in options.modes.iter().filter(|m| m.light_dark) {
        if mode.color_scheme.as_deref() != Some("dark") || options.color_scheme.as_deref() == Some("dark") {
            let message =
                format!("light-dark is for a dark mode over a light default; {:?} is not", mode.name);
            diagnostics.error(at, "options", message, "set color-scheme = \"dark\" for the mode");
        }
    }
}

fn check_names(tokens: &Tokens, options: &Options, diagnostics: &mut Diagnostics) {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for (id, token) in tokens {
        for full in emit::names_of(&token.name, &token.value) {
            // Sass takes dashes and underscores for the same.
            let full = full.replace('_', "-");
            let reserved =
                full == "tokens" || options.modes.iter().any(|m| full == format!("tokens-{}", m.name));
            if reserved {
                let message = format!("{id} would be called {full:?}, which the SCSS map is");
                diagnostics.error(token.at, "name-collision", message, "rename it, or set a prefix");
            } else if let Some(other) = taken.get(&full) {
                let message = format!("{id} and {other} would both be called {full:?}");
                let fix = "rename one of them, or set `naming = \"preserve\"`";
                diagnostics.error(token.at, "name-collision", message, fix);
            } else {
                taken.insert(full, id.clone());
            }
        }
    }
}

impl Compiled {
    /// The default and every mode, by name.
    pub fn permutations(&self) -> impl Iterator<Item = Permutation<'_>> {
        std::iter::once(("", &self.tokens))
            .chain(self.modes.iter().map(|m| (m.options.name.as_str(), &m.tokens)))
    }

    /// The files for `platform`.
    pub fn emit(&self, platform: Platform, options: &Options) -> Result<Vec<Output>, String> {
        emit::emit(self, platform, options)
    }

    /// The files for several platforms, in their order; they are made at the same time.
    pub fn emit_all(
        &self,
        platforms: &[Platform],
        options: &Options,
    ) -> Result<Vec<(Platform, Output)>, String> {
        let made: Vec<Result<Vec<Output>, String>> = std::thread::scope(|scope| {
            let spawn = |platform| scope.spawn(move || self.emit(platform, options));
            let running: Vec<_> = platforms.iter().copied().map(spawn).collect();
            running
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut all = Vec::new();
        for (platform, outputs) in platforms.iter().zip(made) {
            all.extend(outputs?.into_iter().map(|output| (*platform, output)));
        }
        Ok(all)
    }

    /// Every pair of colours that are seen together, in every mode: those of the options, and by Material's convention
    /// `on-primary` on `primary`.
    #[must_use]
    pub fn contrast(&self, options: &Options) -> Vec<Pair> {
        let declared =
            options.contrast.iter().map(|c| (c.foreground.clone(), c.background.clone(), c.minimum));
        let mut found = Vec::new();
        for (foreground, background, minimum) in declared.chain(self.conventional()) {
            for (mode, tokens) in self.permutations() {
                let color = |id: &str| match tokens.get(id).map(|t| (&t.value, t.at)) {
                    Some((Value::Color(c), at)) => Some((c, at)),
                    _ => None,
                };
                let both = color(&foreground).zip(color(&background));
                found.push(Pair {
                    foreground: foreground.clone(),
                    background: background.clone(),
                    mode: mode.to_owned(),
                    minimum,
                    ratio: both.map(|((front, _), (back, _))| front.contrast(back)),
                    at: both.map(|((_, at), _)| at),
                });
            }
        }
        found
    }

    /// The pairs that names tell of.
    fn conventional(&self) -> Vec<(String, String, f64)> {
        let mut pairs = Vec::new();
        for id in self.tokens.keys() {
            let (front, name) = id.rsplit_once('.').map_or(("", id.as_str()), |(f, n)| (f, n));
            let bare = name
                .strip_prefix("on-")
                .or_else(|| name.strip_prefix("on").filter(|r| r.starts_with(char::is_uppercase)));
            let Some(bare) = bare else { continue };
            let mut chars = bare.chars();
            let lower: String = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
            let behind = if front.is_empty() { lower } else { format!("{front}.{lower}") };
            if self.tokens.contains_key(&behind) {
                pairs.push((id.clone(), behind, 4.5));
            }
        }
        pairs
    }

    fn check_contrast(&self, options: &Options, diagnostics: &mut Diagnostics) {
        for pair in self.contrast(options) {
            let Pair { foreground, background, mode, minimum, ratio, at } = pair;
            let is_declared =
                options.contrast.iter().any(|c| c.foreground == foreground && c.background == background);
            match (ratio, at) {
                (Some(ratio), Some(at)) if ratio + 0.005 < minimum => {
                    let place = if mode.is_empty() { String::new() } else { format!(" in mode {mode}") };
                    let message = format!(
                        "{foreground} on {background}{place} has contrast {ratio:.2}, below {minimum}"
                    );
                    diagnostics.warn(at, "contrast", message, "darken one or lighten the other");
                }
                (None, _) if is_declared => {
                    let message =
                        format!("the pair {foreground} on {background} names a token that is no colour");
                    let fix = "check `contrast` under [tokens]";
                    diagnostics.warn(At::default(), "contrast-pair", message, fix);
                }
                _ => {}
            }
        }
    }

    /// Tokens that nothing refers to, in groups whose other members are there to be referred to.
    fn check_unused(&self, diagnostics: &mut Diagnostics) {
        let mut used = std::collections::BTreeSet::new();
        let mut with_alias = std::collections::BTreeSet::new();
        let top = |token: &crate::Token| token.path.first().cloned().unwrap_or_default();
        for (_, tokens) in self.permutations() {
            for (_, token) in tokens {
                let mut refers = false;
                emit::references(token, &mut |id: &str| {
                    used.insert(id.to_owned());
                    refers = true;
                });
                if refers {
                    with_alias.insert(top(token));
                }
            }
        }
        let referred_groups: std::collections::BTreeSet<String> =
            used.iter().filter_map(|id| self.tokens.get(id)).map(top).collect();
        for (id, token) in &self.tokens {
            let group = top(token);
            if !used.contains(id) && referred_groups.contains(&group) && !with_alias.contains(&group) {
                let message = format!("{id} is a primitive that nothing refers to");
                diagnostics.warn(token.at, "unused-primitive", message, "remove it, or use it");
            }
        }
    }
}
