//! `gatewright kits`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use axum::{Router, routing};
use contract::{Code, Fault, Principal};
use exec::reports::KeptReport;
use exec::state::StateDir;
use tools_design::review::ReviewSection;

use super::CommandResult;
use crate::cli::KitsCommand;
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{BOLD, NOTE};

/// Most kits that are listed.
const LISTED: usize = 100;

/// What pages that we write ourselves may do.
const OWN_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub fn run(asked: &Asked, command: KitsCommand) -> CommandResult {
    let house = compose::house(asked, &Offer::default())?;
    let engine = house.first();
    let owner = Principal::Local { uid: engine.uid() };
    match command {
        KitsCommand::List => {
            list(engine.state(), &owner);
            Ok(ExitCode::SUCCESS)
        }
        KitsCommand::Export { kit, folder } => export(engine.state(), &owner, &kit, &folder),
        KitsCommand::Serve { port } => {
            let configured = match port {
                Some(port) => port,
                None => engine.settings::<ReviewSection>()?.port,
            };
            let states = house.engines().map(|engine| engine.state().clone()).collect();
            serve(Arc::new(Shown { states, owner, port: configured, last: Mutex::default() }))
        }
    }
}

fn list(state: &StateDir, owner: &Principal) {
    let kits = state.kits(owner, LISTED);
    if kits.is_empty() {
        say!(
            "{NOTE}No review kit is kept here.{NOTE:#} `gatewright call review_kit_create --featureName NAME --ticketId AB-1` makes one."
        );
    }
    for kit in kits {
        say!("{BOLD}kit://{}{BOLD:#}  {}  {} files", kit.title, kit.at, kit.files.len());
    }
}

fn named(state: &StateDir, owner: &Principal, name: &str) -> Result<KeptReport, Fault> {
    match name {
        "last" => state
            .kits(owner, 1)
            .into_iter()
            .next()
            .ok_or_else(|| Fault::new(Code::NotFound, "no review kit is kept here")),
        name => state.kit(name.strip_prefix("kit://").unwrap_or(name), owner),
    }
}

/// Writes a kit's files into a folder that is empty or new; nothing is written where something is there already.
fn export(state: &StateDir, owner: &Principal, name: &str, folder: &Path) -> CommandResult {
    let kit = named(state, owner, name)?;
    let mut files = Vec::with_capacity(kit.files.len());
    for file in &kit.files {
        // The names are the kit's own, checked when it was made; they are checked again where they become paths.
        let relative = contract::RelPath::new(&file.name).map_err(|e| Fault::internal(e.to_string()))?;
        files.push((folder.join(relative.as_str()), state.report_file(file)?));
    }
    let taken = |path: &Path| {
        Fault::invalid(format!("{}: there is something already", path.display()))
            .suggest("Name a folder that is empty or new.")
    };
    match std::fs::read_dir(folder).map(|mut there| there.next().is_some()) {
        Ok(false) => {}
        Ok(true) => return Err(taken(folder).into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(_) => return Err(taken(folder).into()),
    }
    for (path, bytes) in files {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        // Somebody else may write there meanwhile.
        let mut fresh = std::fs::File::create_new(&path).map_err(|_| taken(&path))?;
        std::io::Write::write_all(&mut fresh, &bytes)?;
    }
    say!("{}", folder.join("index.html").display());
    Ok(ExitCode::SUCCESS)
}

/// What is shown, and to whom.
struct Shown {
    /// Of every root.
    states: Vec<StateDir>,
    owner: Principal,
    port: u16,
    /// The kit that was asked for last, for a moment: a page asks for many files of it.
    last: Mutex<Option<(Instant, Found)>>,
}

/// A kit and where its files are.
type Found = Arc<(StateDir, KeptReport)>;

/// How long a kit is remembered.
const MOMENT: Duration = Duration::from_secs(2);

impl Shown {
    fn kit(&self, name: &str) -> Option<Found> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, found)) = last.as_ref()
            && at.elapsed() < MOMENT
            && found.1.title == name
        {
            return Some(Arc::clone(found));
        }
        let kit = |state: &StateDir| Some(Arc::new((state.clone(), state.kit(name, &self.owner).ok()?)));
        let found = self.states.iter().find_map(kit)?;
        *last = Some((Instant::now(), Arc::clone(&found)));
        Some(found)
    }

    fn kits(&self) -> Vec<KeptReport> {
        let mut kits: Vec<KeptReport> =
            self.states.iter().flat_map(|state| state.kits(&self.owner, LISTED)).collect();
        kits.sort_by(|a, b| b.at.cmp(&a.at));
        kits.truncate(LISTED);
        kits
    }
}

fn serve(shown: Arc<Shown>) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, shown.port));
        let listener = tokio::net::TcpListener::bind(address).await.map_err(|e| {
            Fault::invalid(format!("{address}: {e}"))
                .suggest("Is another `kits serve` running? Name another port with --port.")
        })?;
        let port = listener.local_addr()?.port();
        let (states, owner) = (shown.states.clone(), shown.owner.clone());
        let shown = Arc::new(Shown { states, owner, port, last: Mutex::default() });
        let router = Router::new().fallback(routing::get(answer)).with_state(shown);
        say!("http://127.0.0.1:{port}/");
        axum::serve(listener, router)
            .with_graceful_shutdown(async {
                // Without a handler there is nothing to wait for: the process ends by the signal itself.
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            })
            .await?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn answer(State(shown): State<Arc<Shown>>, request: Request<Body>) -> Response<Body> {
    if !is_here(request.headers(), shown.port) {
        return plain(
            StatusCode::MISDIRECTED_REQUEST,
            "Kits are shown as http://127.0.0.1 and http://localhost only.",
        );
    }
    let path = request.uri().path().trim_start_matches('/').to_owned();
    tokio::task::spawn_blocking(move || found(&shown, &path))
        .await
        .unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "The kit could not be read."))
}

/// Whether a request was made to this machine by its own name: a page of elsewhere whose name leads here says another.
fn is_here(headers: &HeaderMap, port: u16) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"))
}

fn found(shown: &Shown, path: &str) -> Response<Body> {
    let Some((name, file)) = path.split_once('/') else {
        return if path.is_empty() { all(shown) } else { moved(&format!("/{path}/index.html")) };
    };
    if file.is_empty() {
        return moved(&format!("/{name}/index.html"));
    }
    let file = decoded(file);
    let kept = shown.kit(name).and_then(|found| {
        let (state, kit) = found.as_ref();
        let kept = kit.files.iter().find(|kept| kept.name == file)?;
        Some((state.report_file(kept).ok()?, kept.mime.clone()))
    });
    let Some((bytes, mime)) = kept else {
        return plain(StatusCode::NOT_FOUND, "There is no such kit, or it has no such file.");
    };
    let is_own = kits::is_generated(&file);
    let policy = if is_own { kits::page_policy() } else { kits::example_policy() };
    let mut response = response(StatusCode::OK, &mime, &policy, bytes);
    if !is_own {
        // Examples run in an origin of their own, which asks for its scripts and fonts across origins.
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("null"));
    }
    response
}

/// A path as it was before it was written in a URL.
fn decoded(path: &str) -> String {
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// The kits that there are.
fn all(shown: &Shown) -> Response<Body> {
    let kits = shown.kits();
    let page = maud::html! {
        (maud::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Review kits" }
                style { "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}li{margin:.5rem 0}time{opacity:.75}" }
            }
            body {
                main {
                    h1 { "Review kits" }
                    @if kits.is_empty() { p { "None is kept here. Call " code { "review_kit_create" } " to make one." } }
                    ul {
                        @for kit in &kits {
                            li { a href=(format!("/{}/index.html", kit.title)) { (kit.title) } " " time datetime=(kit.at) { (kit.at) } }
                        }
                    }
                }
            }
        }
    };
    response(StatusCode::OK, "text/html; charset=utf-8", OWN_POLICY, page.into_string().into_bytes())
}

fn moved(to: &str) -> Response<Body> {
    let mut response = plain(StatusCode::TEMPORARY_REDIRECT, "");
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

fn plain(status: StatusCode, words: &str) -> Response<Body> {
    response(status, "text/plain; charset=utf-8", OWN_POLICY, words.as_bytes().to_vec())
}

fn response(status: StatusCode, mime: &str, policy: &str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, mime),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    response
}
