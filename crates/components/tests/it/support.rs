//! Components in the text format, made from a few words.

use std::sync::{Arc, Mutex};

use gatewright_components as components;

use components::{Answer, Call, Event, Failure, Grants, Host, Level, Limits, Loaded, Question};

/// A component to be. Its memory: the call's answer at 64, configure's at 128, the list of tools at 256, tools at 512, texts from 1024.
#[derive(Clone)]
pub(crate) struct Guest {
    pub(crate) tools: Vec<[String; 5]>,
    body: String,
    logs: Option<String>,
    /// Functions of the host beside `log`.
    imports: Vec<(String, String)>,
    world: String,
    extra: String,
    describe: String,
    leaves_out: Option<&'static str>,
}

impl Guest {
    pub(crate) fn of(name: &str) -> Self {
        let tool = [name, "A title", "A description.", "{\"type\": \"object\"}", "read"].map(str::to_owned);
        Self {
            tools: vec![tool],
            body: String::new(),
            logs: None,
            imports: Vec::new(),
            world: "0.1.0".to_owned(),
            extra: String::new(),
            describe: String::new(),
            leaves_out: None,
        }
    }

    /// Answers with its arguments.
    pub(crate) fn echo() -> Self {
        Self::of("echo").body(
            "(i32.store (i32.const 68) (local.get 2)) (i32.store (i32.const 72) (local.get 3)) (i32.const 64)",
        )
    }

    /// What `call` does: of tool (0, 1) and arguments (2, 3), each a place and a length; the place of the answer is left.
    pub(crate) fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    pub(crate) fn answering_errors(mut self) -> Self {
        self.body = format!("(i32.store8 (i32.const 64) (i32.const 1)) {}", self.body);
        self
    }

    /// Logs at each call, before its body.
    pub(crate) fn with_log(mut self, text: &str) -> Self {
        self.logs = Some(text.to_owned());
        self
    }

    pub(crate) fn kind(mut self, kind: &str) -> Self {
        kind.clone_into(&mut self.tools[0][4]);
        self
    }

    /// Imports a function, and calls it (`plan` alone: the removal of what it logs).
    pub(crate) fn importing(mut self, function: &str, parameters: &str) -> Self {
        self.imports.push((function.to_owned(), parameters.to_owned()));
        self
    }

    pub(crate) fn of_world(mut self, version: &str) -> Self {
        version.clone_into(&mut self.world);
        self
    }

    /// Text of the component before everything else.
    pub(crate) fn with(mut self, text: &str) -> Self {
        text.clone_into(&mut self.extra);
        self
    }

    /// What `describe` does before it answers.
    pub(crate) fn describing(mut self, text: &str) -> Self {
        text.clone_into(&mut self.describe);
        self
    }

    pub(crate) fn without(mut self, export: &'static str) -> Self {
        self.leaves_out = Some(export);
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let text = self.text();
        wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    pub(crate) fn load(&self, grants: Grants, limits: Limits) -> Result<Loaded, Failure> {
        Loaded::new(&self.bytes(), grants, limits)
    }

    fn text(&self) -> String {
        let (mut texts, mut records) = (Vec::<u8>::new(), Vec::<u8>::new());
        let mut place = |text: &str| {
            let at = u32::try_from(1024 + texts.len()).unwrap();
            texts.extend_from_slice(text.as_bytes());
            (at, u32::try_from(text.len()).unwrap())
        };
        for tool in &self.tools {
            for text in tool {
                let (at, length) = place(text);
                records.extend(at.to_le_bytes());
                records.extend(length.to_le_bytes());
            }
        }
        let (logged, logs) = match &self.logs {
            Some(text) => place(text),
            None => (0, 0),
        };
        let escaped = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:02x}")).collect::<String>();
        let has_host = self.logs.is_some() || !self.imports.is_empty();
        let plans = self.imports.iter().any(|(name, _)| name == "plan");
        let mut host = String::new();
        let (mut lowered, mut given, mut taken, mut before) =
            (String::new(), String::new(), String::new(), String::new());
        if has_host {
            let mut functions = String::new();
            for (name, parameters) in &self.imports {
                if name == "plan" {
                    functions.push_str(
                        "(type $e (variant (case \"put\" (tuple string (list u8))) (case \"remove\" string) (case \"append\" (tuple string string))))
                         (export \"effect\" (type $effect (eq $e)))
                         (export \"plan\" (func (param \"effect\" $effect) (result (result (error string)))))",
                    );
                } else {
                    functions.push_str(&format!("(export \"{name}\" (func {parameters}))"));
                }
            }
            host = format!(
                "(import \"gatewright:plugin/host@{}\" (instance $host
                   (type $l (enum \"debug\" \"info\" \"warn\")) (export \"level\" (type $level (eq $l)))
                   (export \"log\" (func (param \"level\" $level) (param \"text\" string))) {functions}))",
                self.world
            );
            lowered.push_str(
                "(core func $log (canon lower (func $host \"log\") (memory (core memory $libc \"memory\")) (realloc (core func $libc \"realloc\"))))",
            );
            given.push_str("(export \"log\" (func $log))");
            taken.push_str("(import \"host\" \"log\" (func $log (param i32 i32 i32)))");
            before.push_str(&format!("(call $log (i32.const 1) (i32.const {logged}) (i32.const {logs}))"));
        }
        if plans {
            lowered.push_str(
                "(core func $plan (canon lower (func $host \"plan\") (memory (core memory $libc \"memory\")) (realloc (core func $libc \"realloc\"))))",
            );
            given.push_str("(export \"plan\" (func $plan))");
            taken.push_str("(import \"host\" \"plan\" (func $plan (param i32 i32 i32 i32 i32 i32)))");
            before.push_str(&format!(
                "(call $plan (i32.const 1) (i32.const {logged}) (i32.const {logs}) (i32.const 0) (i32.const 0) (i32.const 96))"
            ));
        }
        let exports: String = [
            ("describe", "(result (list $tool))"),
            ("configure", "(param \"config\" string) (result (result (error string)))"),
            ("call", "(param \"tool\" string) (param \"arguments\" string) (result (result string (error string)))"),
        ]
        .iter()
        .filter(|(name, _)| self.leaves_out != Some(*name))
        .map(|(name, kind)| {
            format!(
                "(func (export \"{name}\") {kind} (canon lift (core func $guest \"{name}\") (memory (core memory $libc \"memory\")) (realloc (core func $libc \"realloc\"))))\n"
            )
        })
        .collect();
        format!(
            "(component {extra}
  (type $t (record (field \"name\" string) (field \"title\" string) (field \"description\" string) (field \"input-schema\" string) (field \"kind\" string)))
  (import \"tool\" (type $tool (eq $t)))
  {host}
  (core module $Libc
    (memory (export \"memory\") 1)
    (global $top (mut i32) (i32.const 16384))
    (func (export \"realloc\") (param i32 i32 i32 i32) (result i32)
      (global.set $top (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
      (global.get $top)
      (global.set $top (i32.add (global.get $top) (local.get 3)))))
  (core instance $libc (instantiate $Libc))
  {lowered}
  (core module $Guest
    (import \"libc\" \"memory\" (memory 1))
    {taken}
    (data (i32.const 256) \"{list}\") (data (i32.const 512) \"{records}\") (data (i32.const 1024) \"{texts}\")
    (table $t 1 20000 funcref)
    (func $deep (call $deep) (call $deep))
    (func (export \"describe\") (result i32) {describe} (i32.const 256))
    (func (export \"configure\") (param i32 i32) (result i32) (i32.const 128))
    (func (export \"call\") (param i32 i32 i32 i32) (result i32) {before} {body}))
  (core instance $guest (instantiate $Guest (with \"libc\" (instance $libc)) (with \"host\" (instance {given}))))
  {exports})",
            extra = self.extra,
            list = escaped(
                &[512_u32.to_le_bytes(), u32::try_from(self.tools.len()).unwrap().to_le_bytes()].concat()
            ),
            records = escaped(&records),
            texts = escaped(&texts),
            describe = self.describe,
            body = self.body,
        )
    }
}

/// A parent that writes down what it is told, and answers that it is done.
#[derive(Default, Clone)]
pub(crate) struct Parent {
    pub(crate) logs: Vec<(Level, String)>,
    pub(crate) questions: Vec<Question>,
}

struct Shared(Arc<Mutex<Parent>>);

impl Host for Shared {
    fn log(&mut self, level: Level, text: String) {
        self.0.lock().unwrap().logs.push((level, text));
    }

    fn ask(&mut self, question: Question) -> Option<Answer> {
        self.0.lock().unwrap().questions.push(question);
        Some(Answer::Done)
    }
}

impl Parent {
    pub(crate) fn call(self, loaded: &Loaded, tool: &str, arguments: &str) -> (Event, Self) {
        let shared = Arc::new(Mutex::new(self));
        let call = Call { tool: tool.into(), arguments: arguments.into(), config: "{}".into() };
        let (event, _) = loaded.call(&call, Box::new(Shared(Arc::clone(&shared))));
        let parent = shared.lock().unwrap().clone();
        (event, parent)
    }
}

pub(crate) fn failure(event: &Event) -> &Failure {
    match event {
        Event::Failed(failure) => failure,
        other => panic!("no failure: {other:?}"),
    }
}
