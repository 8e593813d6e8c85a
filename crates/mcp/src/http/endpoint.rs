//! A request's way, from the outside in: who calls, whose session it is, what is said, the protocol.
//!
//! One function rather than layers around a router: those copy themselves for each request.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use hyper::body::Incoming;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::caller::{self, Identify};
use super::message::Doorkeeper;
use super::sessions::Sessions;
use super::{ENDPOINT, Served};

/// Longest that a request may take until its answer begins: longer than the longest tool.
const LONGEST: Duration = Duration::from_mins(11);

/// The protocol library's service.
pub(super) type Protocol<S> = StreamableHttpService<S, LocalSessionManager>;

/// What answers where the protocol is spoken.
pub(super) struct Endpoint<S> {
    pub(super) who: Arc<dyn Identify>,
    pub(super) sessions: Sessions,
    pub(super) door: Doorkeeper<S>,
    pub(super) protocol: Protocol<S>,
}

impl<S: Served> Endpoint<S> {
    async fn answer(&self, request: Request<Incoming>) -> Response {
        let (mut head, body) = request.into_parts();
        let caller = match caller::of(&*self.who, &mut head).await {
            Ok(caller) => caller,
            Err(refused) => return *refused,
        };
        let mut visit = match self.sessions.enter(&head, &caller).await {
            Ok(visit) => visit,
            Err(refused) => return *refused,
        };
        let response = if head.method == Method::POST {
            self.door.posted(&self.protocol, head, body, &caller, &mut visit).await
        } else {
            self.protocol.handle(Request::from_parts(head, body)).await.map(Body::new)
        };
        self.sessions.leave(visit, &caller, response).await
    }
}

/// Everything that is served: the protocol, and what is open to all.
pub(super) struct App<S> {
    pub(super) endpoint: Arc<Endpoint<S>>,
    pub(super) open: Router,
}

impl<S> Clone for App<S> {
    fn clone(&self) -> Self {
        Self { endpoint: Arc::clone(&self.endpoint), open: self.open.clone() }
    }
}

impl<S: Served> hyper::service::Service<Request<Incoming>> for App<S> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if request.uri().path() != ENDPOINT {
            return Box::pin(TowerToHyperService::new(self.open.clone()).call(request));
        }
        let endpoint = Arc::clone(&self.endpoint);
        Box::pin(async move {
            let late = || StatusCode::REQUEST_TIMEOUT.into_response();
            let answered = tokio::time::timeout(LONGEST, endpoint.answer(request)).await;
            Ok(answered.unwrap_or_else(|_| late()))
        })
    }
}
