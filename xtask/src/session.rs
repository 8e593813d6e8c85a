//! A server over standard input and output, spoken to as a client does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sh::Done;

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_hours(1);

/// Counting calls would refuse the sixty-first of a minute; and no call of a bench goes on as a job.
const CONFIG: &str = "# Written by `cargo xtask`.\n[limits]\nenabled = false\ndetach-after = 3600\n";

/// Where a server works, and where it keeps what is its own.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The program.
    pub(crate) program: PathBuf,
    /// What it serves.
    pub(crate) root: PathBuf,
    /// Its state, of this root alone.
    pub(crate) state: PathBuf,
    config: PathBuf,
    programs: Option<PathBuf>,
    variables: Vec<(&'static str, String)>,
}

impl Place {
    /// `program` over `root`, with a configuration below `scratch` and its state in `state`.
    pub(crate) fn new(program: &Path, root: &Path, scratch: &Path, state: &Path) -> Done<Self> {
        let config = scratch.join("config");
        let own = config.join("gatewright");
        std::fs::create_dir_all(&own)
            .and_then(|()| std::fs::create_dir_all(state))
            .and_then(|()| std::fs::write(own.join("config.toml"), CONFIG))
            .map_err(|e| format!("{}: {e}", scratch.display()))?;
        Ok(Self {
            program: program.to_owned(),
            root: root.to_owned(),
            state: state.to_owned(),
            config,
            programs: None,
            variables: Vec::new(),
        })
    }

    /// With more in its configuration.
    pub(crate) fn configured(&self, more: &str) -> Done {
        let file = self.config.join("gatewright/config.toml");
        std::fs::write(&file, format!("{CONFIG}{more}")).map_err(|e| format!("{}: {e}", file.display()))
    }

    /// The same, with variables.
    pub(crate) fn with_variables(
        mut self,
        variables: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        self.variables.extend(variables);
        self
    }

    /// The same, with this folder of programs before the machine's own.
    pub(crate) fn with_programs(mut self, folder: &Path) -> Self {
        self.programs = Some(folder.to_owned());
        self
    }

    /// The same, computing every answer anew.
    pub(crate) fn without_cache(self) -> Done<Self> {
        let file = self.config.join("gatewright/config.toml");
        std::fs::write(&file, format!("{CONFIG}[cache]\nenabled = false\n"))
            .map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(self)
    }

    /// The program with `args`, over the root.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--root")
            .arg(&self.root)
            .args(args)
            .current_dir(&self.root)
            .env("XDG_STATE_HOME", &self.state)
            .env("XDG_CONFIG_HOME", &self.config)
            .env("NO_COLOR", "1")
            .env_remove("LOG_LEVEL")
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null());
        if let Some(programs) = &self.programs {
            let own = std::env::var_os("PATH").unwrap_or_default();
            let all = std::iter::once(programs.clone()).chain(std::env::split_paths(&own));
            if let Ok(path) = std::env::join_paths(all) {
                command.env("PATH", path);
            }
        }
        command
    }

    /// The folder of the root's own state, once something has been served.
    pub(crate) fn own_state(&self) -> Option<PathBuf> {
        std::fs::read_dir(self.state.join("gatewright")).ok()?.flatten().next().map(|entry| entry.path())
    }

    /// A server that lists everything, before the handshake.
    pub(crate) fn start(&self) -> Done<Session> {
        Session::start(&mut self.command(&["serve", "--toolsets", "all"]))
    }

    /// The same, after the handshake.
    pub(crate) fn serve(&self) -> Done<Session> {
        self.start().and_then(Session::greeted)
    }

    /// A server as most are started, after the handshake: everything is there, and few tools are listed.
    pub(crate) fn serve_as_usual(&self) -> Done<Session> {
        Session::start(&mut self.command(&["serve"])).and_then(Session::greeted)
    }
}

/// A running server. Dropping it kills it.
pub(crate) struct Session {
    child: Child,
    input: Option<ChildStdin>,
    /// Answers, and when each had come: what this program takes to read one is not the server's time.
    answers: Receiver<(Instant, Value)>,
    /// When the last one that was waited for had come.
    came: Instant,
    /// What it says to people, when it has ended.
    log: Option<JoinHandle<String>>,
    asked: u64,
}

impl Session {
    fn greeted(mut self) -> Done<Self> {
        let client = json!({ "name": "xtask", "version": "0" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.request("initialize", params)?;
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(self)
    }

    fn start(command: &mut Command) -> Done<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", command.get_program().display()))?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let log = std::thread::spawn(move || {
            let mut said = Vec::new();
            // It says little; what fails to be read is not missed.
            let _ = errors.map(|mut errors| errors.read_to_end(&mut said));
            String::from_utf8_lossy(&said).into_owned()
        });
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            // A last line may be torn where the server was killed: what is no whole answer was not given.
            for line in output.into_iter().flat_map(|out| BufReader::new(out).lines().map_while(Result::ok)) {
                let came = Instant::now();
                let Ok(answer) = serde_json::from_str(&line) else { continue };
                if sender.send((came, answer)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, answers, came: Instant::now(), log: Some(log), asked: 0 })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn say(&mut self, message: &Value) -> Done {
        let gone = || "the server's input is closed".to_owned();
        let input = self.input.as_mut().ok_or_else(gone)?;
        input.write_all(format!("{message}\n").as_bytes()).map_err(|e| format!("{}: {e}", gone()))
    }

    /// Asks, and does not wait: the request's id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Done<u64> {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    fn request(&mut self, method: &str, params: Value) -> Done<Value> {
        let id = self.ask(method, params)?;
        loop {
            let (came, answer) = match self.answers.recv_timeout(PATIENCE) {
                Ok(answer) => answer,
                Err(why) => return Err(self.silent(method, why)),
            };
            if answer["id"] == id {
                self.came = came;
                return Ok(answer);
            }
        }
    }

    /// Why there is no answer.
    fn silent(&mut self, method: &str, why: RecvTimeoutError) -> String {
        let _ = self.child.kill();
        let ended = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        let said = self.log.take().and_then(|log| log.join().ok()).unwrap_or_default();
        format!("{method}: no answer ({why}); the server ended ({ended}) and had said: {said}")
    }

    /// Asks, and waits for what the answer gives.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Done<Value> {
        let answer = self.request(method, params)?;
        if answer.get("error").is_some() {
            Err(format!("{method}: {answer}"))
        } else {
            Ok(answer["result"].clone())
        }
    }

    /// Calls a tool, and does not wait.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> Done<u64> {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool: what a call that is no error gives.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Done<Value> {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        let result = &answer["result"];
        if answer.get("error").is_some() || result["isError"] == true {
            return Err(format!("{tool}: {answer}"));
        }
        Ok(result["structuredContent"].clone())
    }

    /// The text of a resource.
    pub(crate) fn resource(&mut self, uri: &str) -> Done<String> {
        let answer = self.request("resources/read", json!({ "uri": uri }))?;
        let text = answer["result"]["contents"][0]["text"].as_str();
        text.map(str::to_owned).ok_or_else(|| format!("{uri}: {answer}"))
    }

    /// Calls a tool as [`Self::call`] does, and says how long it took until the answer's last byte had come.
    pub(crate) fn timed(&mut self, tool: &str, arguments: &Value) -> Done<(Duration, Value)> {
        let began = Instant::now();
        let given = self.call(tool, arguments.clone())?;
        Ok((self.came.saturating_duration_since(began), given))
    }

    /// An answer that came unasked for, or within `wait`.
    pub(crate) fn heard(&self, wait: Duration) -> Option<Value> {
        self.answers.recv_timeout(wait).ok().map(|(_, answer)| answer)
    }

    /// Kills the server (SIGKILL) and reaps it; gives what it had said by then.
    pub(crate) fn kill(&mut self) -> Done<Vec<Value>> {
        self.child.kill().and_then(|()| self.child.wait()).map_err(|e| format!("killing the server: {e}"))?;
        let mut said = Vec::new();
        loop {
            match self.answers.recv_timeout(Duration::from_secs(5)) {
                Ok((_, answer)) => said.push(answer),
                Err(RecvTimeoutError::Disconnected) => return Ok(said),
                // Whoever has inherited its output holds it open: nobody should.
                Err(RecvTimeoutError::Timeout) => {
                    return Err("a killed server's output stays open: a process of it is left".to_owned());
                }
            }
        }
    }

    /// Closes the input and waits for a clean end.
    pub(crate) fn finish(mut self) -> Done {
        drop(self.input.take());
        let status: ExitStatus = self.child.wait().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}")) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The transcript that an answer names: from then on the call is known to be in the record.
pub(crate) fn transcript(answer: &Value) -> Option<&str> {
    answer["result"]["structuredContent"]["metadata"]["transcript"].as_str()
}
