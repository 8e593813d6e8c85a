//! Where a plugin's tool stands that works in a clone of the repository: what the remote has is fetched, the branch where the plugin
//! stood last is checked out in the clone, and a repository that its program does not know is begun with. The user's own HEAD, index and
//! work tree stay as they are.

use std::time::Duration;

use contract::text::visible;
use contract::{Code, Fault};
use exec::Workshop;
use exec::run::{Command, Ran};
use kit::{Answer, RunDesk};
use serde_json::{Map, Value, json};

use plugins::Plugin;

/// How long what is done besides the program may take.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The footing of one call.
pub struct Footing {
    of: String,
    /// The user's own branch.
    head: Option<String>,
    /// Where the plugin stood, of what is there.
    stood: Vec<String>,
    /// Where the program began.
    at: Option<String>,
    told: Vec<String>,
}

/// The remote that a stack is for: `origin`, or the only one.
pub fn remote_of(workshop: &Workshop) -> Option<String> {
    let remotes = workshop.remotes();
    let only = if let [only] = remotes.as_slice() { Some(only.clone()) } else { None };
    remotes.into_iter().find(|name| name == "origin").or(only)
}

/// What a program that has to go well said, where it did not.
pub fn complaint(ran: &Ran) -> String {
    let said = if ran.stderr.bytes.is_empty() { &ran.stdout.bytes } else { &ran.stderr.bytes };
    visible(&String::from_utf8_lossy(said)).trim().chars().take(1_000).collect()
}

/// A tool that works in a clone, and its plugin.
#[derive(Clone, Copy)]
pub struct Of<'a> {
    pub plugin: &'a Plugin,
    pub git: &'a plugins::file::Git,
    pub program: &'a str,
    pub settings: &'a Map<String, Value>,
}

impl Footing {
    /// Takes it, in the clone of this call.
    pub async fn take(of: Of<'_>, desk: &RunDesk) -> Result<Self, Fault> {
        let workshop = desk.opened().await?;
        let mut told = Vec::new();
        if of.git.fetch {
            let remote = remote_of(&workshop).ok_or_else(|| {
                Fault::new(Code::NotFound, "the repository has no remote to fetch from")
                    .suggest("`git remote add origin URL` names one.")
            })?;
            desk.fetch(remote.clone()).await?;
            told.push(format!("What {remote} has now was fetched."));
        }
        let (head, _) = workshop.heads();
        let name = of.plugin.name().to_owned();
        let mut stood = desk.stands(&name, head.as_deref());
        stood.retain(|branch| workshop.had_ref(&format!("refs/heads/{branch}")));
        let at = stood.first().cloned().or_else(|| head.clone());
        if let Some(branch) = stood.first() {
            let mut command = Command::new("git", &["checkout", "--quiet", "--no-guess", branch, "--"]);
            command.timeout = PATIENCE;
            let ran = desk.run(command).await?;
            if !ran.is_success() {
                let message = format!("{name} stands on {branch}, and cannot go there: {}", complaint(&ran));
                return Err(Fault::new(Code::Conflict, message).suggest(
                    "Commit or stash what is in the way, or `git switch` to the branch that it is about.",
                ));
            }
        }
        if let Some(begin) = of.plugin.begin(of.settings) {
            let (unless, args) = begin.map_err(Fault::invalid)?;
            if !workshop.had_ref(unless) {
                let mut command = Command::new(of.program, &[]);
                command.args = args;
                command.timeout = PATIENCE;
                let ran = desk.run(command).await?;
                if !ran.is_success() {
                    let message = format!("`{}` failed: {}", ran.line.join(" "), complaint(&ran));
                    return Err(Fault::new(Code::ToolExecutionFailed, message).suggest(format!(
                        "A person's [plugins.{name}] in the user's configuration may say what it did not find out, such as the trunk."
                    )));
                }
                told.push(format!("The repository was new to it: `{}` came first.", ran.line.join(" ")));
            }
        }
        Ok(Self { of: name, head, stood, at, told })
    }

    /// What is told of it once the program went well; where the plugin stands now is kept.
    pub async fn leave(self, desk: &RunDesk, answer: &mut Answer<Map<String, Value>>) -> Result<(), Fault> {
        let (_, now) = desk.opened().await?.heads();
        let mut places: Vec<String> = Vec::new();
        for place in now.iter().chain(&self.stood) {
            if !places.contains(place) && Some(place) != self.head.as_ref() {
                places.push(place.clone());
            }
        }
        if now == self.head {
            // Where the user is, nothing has to be remembered.
            places.clear();
        }
        if now != self.at || places != self.stood {
            desk.stand(self.of.clone(), self.head.clone(), places).await?;
        }
        let mut told = self.told;
        if let Some(branch) = now.as_ref().filter(|_| now != self.head) {
            let here = self.head.as_deref().unwrap_or("where it is");
            told.push(format!(
                "{} stands on `{branch}`: its next call begins there. Your work tree stays on `{here}`; `git switch {branch}` goes there.",
                self.of
            ));
        }
        answer.output.insert("branch".to_owned(), json!(now));
        if !told.is_empty() {
            answer.message.push_str(&format!("\n\n{}", told.join(" ")));
            answer.output.insert("notes".to_owned(), json!(told));
        }
        Ok(())
    }
}
