//! The parent's end of the conversation: what a worker says, held against what it was asked.

use crate::described;
use crate::limits::{self, Grants, Limits};
use crate::lines::{Lines, decode, encode};
use crate::talk::{Answer, Bytes, Call, Effect, Event, Question, Request, TalkError, Tool};

/// A worker, as its parent knows it: what it was asked, and how far it is.
///
/// No I/O: [`Self::hear`] is given what came, [`Self::answer`] gives what is to be written, [`Self::closed`] says what it means
/// that nothing comes any more. After the first error the worker is to be ended: nothing that it says counts.
#[derive(Debug)]
pub struct Hearing {
    lines: Lines,
    grants: Grants,
    tools: Option<Vec<Tool>>,
    state: State,
    told: Told,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Loads,
    Ready,
    Works { may_plan: bool },
    Asks { may_plan: bool, question: Question },
    Ended,
}

/// How much was said in one call.
#[derive(Debug, Default)]
struct Told {
    log_bytes: usize,
    log_pieces: usize,
    questions: usize,
    runs: usize,
    effects: usize,
    planned: usize,
    given: usize,
}

impl Hearing {
    /// Begins: what is to be written to the worker, and who hears what it says.
    pub fn load(component: Vec<u8>, grants: Grants, limits: Limits) -> Result<(Vec<u8>, Self), TalkError> {
        if component.len() > limits::COMPONENT_BYTES {
            return Err(TalkError::Wrong("a component is larger than 8 MiB"));
        }
        let request = Request::Load { component: Bytes(component), grants, limits };
        let hearing = Self {
            lines: Lines::new(limits::EVENT_LINE),
            grants,
            tools: None,
            state: State::Loads,
            told: Told::default(),
        };
        Ok((encode(&request, limits::REQUEST_LINE)?, hearing))
    }

    /// What the component offers, once that was heard.
    #[must_use]
    pub fn tools(&self) -> Option<&[Tool]> {
        self.tools.as_deref()
    }

    /// Whether a call may be begun.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// The line that calls a tool.
    pub fn call(&mut self, call: Call) -> Result<Vec<u8>, TalkError> {
        if self.state != State::Ready {
            return Err(TalkError::Wrong("the worker is not ready for a call"));
        }
        let tools = self.tools.as_deref().unwrap_or_default();
        let Some(tool) = tools.iter().find(|tool| tool.name == call.tool) else {
            return Err(TalkError::Wrong("the component has no tool of this name"));
        };
        if !described::is_json(&call.arguments, limits::INPUT_BYTES) {
            return Err(TalkError::Wrong("the arguments are larger than 1 MiB, or nest too deep"));
        }
        if !described::is_json(&call.config, limits::INPUT_BYTES) {
            return Err(TalkError::Wrong("the configuration is larger than 1 MiB, or nests too deep"));
        }
        let may_plan = tool.kind == "run";
        let line = encode(&Request::Call(call), limits::REQUEST_LINE)?;
        (self.told, self.state) = (Told::default(), State::Works { may_plan });
        Ok(line)
    }

    /// What a worker says with these bytes. A question wants an [`Self::answer`].
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TalkError> {
        self.lines.push(bytes);
        let mut events = Vec::new();
        while let Some(line) = self.lines.next()? {
            let event: Event = decode(&line, limits::EVENT_LINE)?;
            self.admit(&event)?;
            events.push(event);
        }
        Ok(events)
    }

    /// The line that answers the question that is open. After an error it still is: [`Answer::Denied`] always can be said.
    pub fn answer(&mut self, answer: Answer) -> Result<Vec<u8>, TalkError> {
        let State::Asks { may_plan, question } = &self.state else {
            return Err(TalkError::Wrong("the worker asked nothing"));
        };
        let fits = matches!(
            (question, &answer),
            (_, Answer::Denied(_))
                | (Question::Read(_), Answer::File(_))
                | (Question::Glob(_), Answer::Paths(_))
                | (Question::Plan(_) | Question::Set { .. }, Answer::Done)
                | (Question::Run { .. }, Answer::Ran { .. })
                | (Question::Get(_), Answer::Value(_))
        );
        if !fits {
            return Err(TalkError::Wrong("this answers another question"));
        }
        let given = self.told.given.saturating_add(answer.weight());
        let may_plan = *may_plan;
        if given > limits::READ_BYTES && !matches!(answer, Answer::Denied(_)) {
            return Err(TalkError::Wrong("a call is given at most 32 MiB to read"));
        }
        let line = encode(&Request::Answer(answer), limits::REQUEST_LINE)?;
        self.told.given = given;
        self.state = State::Works { may_plan };
        Ok(line)
    }

    /// Whether the worker is of no more use: it failed.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Nothing comes any more: an error, unless nothing was to come.
    pub fn closed(&self) -> Result<(), TalkError> {
        match self.state {
            State::Ready | State::Ended => Ok(()),
            _ => Err(TalkError::Wrong("the worker ended without an answer")),
        }
    }

    fn admit(&mut self, event: &Event) -> Result<(), TalkError> {
        let state = std::mem::replace(&mut self.state, State::Ended);
        self.state = match (state, event) {
            (State::Loads, Event::Described(tools)) => {
                described::check(tools)?;
                self.tools = Some(tools.clone());
                State::Ready
            }
            (State::Loads | State::Works { .. }, Event::Failed(failure)) => {
                if failure.message.len() > limits::MESSAGE_BYTES {
                    return Err(TalkError::Wrong("the worker's error is longer than any of ours"));
                }
                State::Ended
            }
            (state @ State::Works { .. }, Event::Log { text, .. }) => {
                self.told.log_bytes += text.len();
                self.told.log_pieces += 1;
                if self.told.log_bytes > limits::LOG_BYTES || self.told.log_pieces > limits::LOG_PIECES {
                    return Err(TalkError::Wrong("the worker logs more than it may"));
                }
                state
            }
            (State::Works { may_plan }, Event::Ask(question)) => {
                self.may_ask(question, may_plan)?;
                State::Asks { may_plan, question: question.clone() }
            }
            (State::Works { .. }, Event::Done { result, .. }) => {
                match result {
                    Ok(json) if !described::is_json(json, limits::RESULT_BYTES) => {
                        return Err(TalkError::Wrong("the worker's result is no JSON within the limits"));
                    }
                    Err(message) if message.len() > limits::MESSAGE_BYTES => {
                        return Err(TalkError::Wrong("the worker's error is longer than any of ours"));
                    }
                    _ => {}
                }
                State::Ready
            }
            (State::Asks { .. }, _) => {
                return Err(TalkError::Wrong("the worker does not wait for its answer"));
            }
            _ => return Err(TalkError::Wrong("the worker says what it was not asked")),
        };
        Ok(())
    }

    fn may_ask(&mut self, question: &Question, may_plan: bool) -> Result<(), TalkError> {
        let told = &mut self.told;
        told.questions += 1;
        if told.questions > limits::QUESTIONS {
            return Err(TalkError::Wrong("the worker asks more often than it may"));
        }
        let (function, fits) = match question {
            Question::Read(path) => ("read", is_word(path)),
            Question::Glob(pattern) => ("glob", is_word(pattern)),
            Question::Plan(effect) => {
                told.effects += 1;
                told.planned = told.planned.saturating_add(weight(effect));
                let fits = is_word(effect.path())
                    && told.effects <= limits::EFFECTS
                    && told.planned <= limits::PLAN_BYTES
                    && weight(effect) <= limits::FILE_BYTES;
                ("plan", fits && may_plan)
            }
            Question::Run { program, args } => {
                told.runs += 1;
                let fits = args.len() <= limits::WORDS && args.iter().all(|arg| is_argument(arg));
                ("run", fits && is_word(program) && told.runs <= limits::RUNS)
            }
            Question::Get(key) => ("get", is_key(key)),
            Question::Set { key, value } => ("set", is_key(key) && value.0.len() <= limits::VALUE_BYTES),
        };
        if !self.grants.of(function).is_some_and(|(granted, _)| granted) {
            return Err(TalkError::Wrong("the worker asks for what was not declared"));
        }
        if fits { Ok(()) } else { Err(TalkError::Wrong("the worker asks for what no component may ask for")) }
    }
}

/// Whether a text may be a path, a pattern, or a program.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && is_argument(text)
}

/// Whether a text may be an argument of a program.
pub(crate) fn is_argument(text: &str) -> bool {
    text.len() <= limits::WORD_BYTES && !text.contains('\0')
}

/// Whether a text may be a key.
pub(crate) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= limits::KEY_BYTES && !text.contains(char::is_control)
}

/// How many bytes an effect puts.
pub(crate) fn weight(effect: &Effect) -> usize {
    match effect {
        Effect::Put { bytes, .. } => bytes.0.len(),
        Effect::Append { line, .. } => line.len(),
        Effect::Remove { .. } => 0,
    }
}
