//! How the browser is started. It draws the same everywhere, asks nobody for anything, and has one way out.

use exec::run::DOOR_PORT;

/// The flags, each for its reason.
pub(crate) fn flags() -> Vec<String> {
    let mut flags: Vec<String> = [
        "--headless",
        // Its own sandbox needs namespaces within ours, which ours refuses; the world around it is the sandbox.
        "--no-sandbox",
        "--remote-debugging-pipe",
        // Every site in a process of its own, as in a browser that has its sandbox.
        "--site-per-process",
        // One picture everywhere.
        "--disable-gpu",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
        "--force-device-scale-factor=1",
        "--font-render-hinting=none",
        "--disable-lcd-text",
        // Nothing that no page asked for.
        "--no-first-run",
        "--no-default-browser-check",
        "--no-pings",
        "--disable-background-networking",
        "--disable-breakpad",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-domain-reliability",
        "--disable-extensions",
        "--disable-sync",
        "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,DialMediaRouteProvider,PreconnectToSearch",
        "--metrics-recording-only",
        "--mute-audio",
        "--password-store=basic",
        // Pages in the background go on as those in front do.
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
        // One way out: what is not HTTP over TCP does not go through a proxy.
        "--disable-quic",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--proxy-bypass-list=<-loopback>",
        "--user-data-dir=/tmp/profile",
    ]
    .map(str::to_owned)
    .into();
    flags.push(format!("--proxy-server=http://127.0.0.1:{DOOR_PORT}"));
    flags
}
