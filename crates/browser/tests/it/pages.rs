//! Pages: what they show, what they may ask for, and what they cannot do.

use exec::address::Reach;
use gatewright_browser::{BrowserError, Scheme, Window};
use serde_json::{Value, json};

use super::servers::{Server, html};
use super::{House, SOON, site};

fn refused(result: Result<gatewright_browser::Opened, BrowserError>) -> String {
    match result {
        Err(BrowserError::Refused { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_are_pages_without_a_port_and_scripts_see_nothing_of_our_world() {
    let Some(house) = House::possible() else { return };
    let pages = site(&[
        (
            "/index.html",
            "<title>t</title><link rel=stylesheet href=a.css><script src=a.js></script><p id=p>x",
        ),
        (
            "/a.css",
            "p { color: rgb(1, 2, 3) } @media (prefers-color-scheme: dark) { p { color: rgb(4, 5, 6) } }",
        ),
        ("/a.js", "document.title = 'by script'; JSON.stringify = () => 'lies';"),
    ]);
    let tab = house.tab(&Reach::nothing(), Some(pages.clone()));
    let opened = tab.open("https://root.invalid/index.html", SOON).unwrap();
    assert_eq!((opened.status, opened.url.as_str()), (Some(200), "https://root.invalid/index.html"));
    let main = tab.main().unwrap();
    let said = tab
        .evaluate(
            &main,
            "[document.title, getComputedStyle(p).color, JSON.stringify([1]), isSecureContext]",
            SOON,
        )
        .unwrap();
    assert_eq!(said, json!(["by script", "rgb(1, 2, 3)", "[1]", true]));
    assert_eq!(tab.open("https://root.invalid/none", SOON).unwrap().status, Some(404));
    let dark = Window { scheme: Scheme::Dark, width: 400, height: 300 };
    let tab = house.tab_in(&Reach::nothing(), dark, Some(pages));
    tab.open("https://root.invalid/index.html", SOON).unwrap();
    let main = tab.main().unwrap();
    let said = tab.evaluate(&main, "[getComputedStyle(p).color, innerWidth]", SOON).unwrap();
    assert_eq!(said, json!(["rgb(4, 5, 6)", 400]));
    let picture = tab.picture(2_000).unwrap();
    assert_eq!(picture.get(1..4), Some(&b"PNG"[..]));
    assert_eq!(house.pool.browsers(), 1, "one browser for both");
}

#[test]
fn frames_of_other_sites_are_entered_too() {
    let Some(house) = House::possible() else { return };
    let pages = site(&[
        ("/index.html", "<iframe id=f src=https://other.invalid/inner.html></iframe><p>out"),
        ("/inner.html", "<iframe id=g srcdoc='<b>deep</b>'></iframe><p>in"),
    ]);
    let tab = house.tab(&Reach::nothing(), Some(pages));
    tab.open("https://root.invalid/index.html", SOON).unwrap();
    let main = tab.main().unwrap();
    let inner = tab.child(&main, "document.querySelector('#f')").unwrap().unwrap();
    let said =
        tab.evaluate(&inner, "[location.host, document.querySelector('p').textContent]", SOON).unwrap();
    assert_eq!(said, json!(["other.invalid", "in"]));
    let deep = tab.child(&inner, "document.querySelector('#g')").unwrap().unwrap();
    assert_eq!(tab.evaluate(&deep, "document.body.textContent", SOON).unwrap(), json!("deep"));
    assert!(tab.child(&main, "document.querySelector('p')").unwrap().is_none(), "no frame");
}

#[test]
fn n02_n04_n08_a_page_reaches_nothing_inner_by_whatever_way() {
    let Some(house) = House::possible() else { return };
    let inner = Server::new(|_| html("secret"));
    let port = inner.address.port();
    let body = format!(
        "<img src=http://127.0.0.1:{port}/img><script>
         const tries = ['http://localhost:{port}/a', 'http://0x7f.1:{port}/b', 'http://[::ffff:127.0.0.1]:{port}/c',
           'http://2130706433:{port}/d', 'http://127.1:{port}/e', 'http://169.254.169.254/latest', 'http://10.0.0.1/',
           'file:///etc/passwd'];
         Promise.allSettled(tries.map(u => fetch(u, {{ mode: 'no-cors' }}))).then(all => {{
           const ws = new WebSocket('ws://127.0.0.1:{port}/ws');
           navigator.sendBeacon('http://127.0.0.1:{port}/beacon', 'x');
           const frame = document.createElement('iframe'); frame.src = 'http://127.0.0.1:{port}/frame';
           document.body.append(frame);
           new Worker(URL.createObjectURL(new Blob([`fetch('http://127.0.0.1:{port}/worker', {{ mode: 'no-cors' }})`])));
           ws.onerror = () => document.title = all.map(r => r.status[0]).join('') + ' ws';
         }});</script>"
    );
    let body: &'static str = Box::leak(body.into_boxed_str());
    let files: &'static [(&str, &str)] = Box::leak(Box::new([("/index.html", body)]));
    let tab = house.tab(&Reach::public(), Some(site(files)));
    tab.open("https://root.invalid/index.html", SOON).unwrap();
    let main = tab.main().unwrap();
    let title = "new Promise(done => { const look = () => document.title ? done(document.title) : setTimeout(look, 50); look() })";
    assert_eq!(tab.evaluate(&main, title, SOON).unwrap(), json!("rrrrrrrr ws"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(inner.asked(), Vec::<String>::new());
    let blocked = tab.blocked();
    assert!(
        blocked.iter().any(|b| b.url.contains("/img")) && blocked.iter().any(|b| b.url.contains("/frame")),
        "{blocked:?}"
    );
    for url in [
        inner.url("/top"),
        "file:///etc/passwd".into(),
        "http://169.254.169.254/".into(),
        "chrome://version/".into(),
    ] {
        refused(tab.open(&url, SOON));
    }
    // With loopback given, this machine's servers are reached, and through redirects nothing else.
    let outer = Server::new(move |path| match path {
        "/meta" => ("302 Found\r\nLocation: http://169.254.169.254/latest".to_owned(), String::new()),
        "/file" => ("302 Found\r\nLocation: file:///etc/passwd".to_owned(), String::new()),
        "/round" => ("302 Found\r\nLocation: /round".to_owned(), String::new()),
        "/fine" => ("302 Found\r\nLocation: /page".to_owned(), String::new()),
        _ => html("<p>fine"),
    });
    let tab = house.tab(&Reach::public().with_loopback(), None);
    assert_eq!(tab.open(&outer.url("/fine"), SOON).unwrap().url, outer.url("/page"));
    assert!(refused(tab.open(&outer.url("/meta"), SOON)).contains("may not be reached"));
    assert!(tab.open(&outer.url("/file"), SOON).is_err());
    assert!(refused(tab.open(&outer.url("/round"), SOON)).contains("redirected"));
    assert!(outer.asked().iter().filter(|p| *p == "/round").count() <= 7);
    assert!(matches!(tab.open("http://127.0.0.1:1/", SOON), Err(BrowserError::Unreached { .. })));
}

#[test]
fn a_page_is_waited_for_and_acted_on() {
    let Some(house) = House::possible() else { return };
    let pages = site(&[(
        "/index.html",
        "<input id=i><button id=b onclick='later()'>go</button><script>alert('x'); onbeforeunload = e => e.preventDefault();
         function later() { setTimeout(() => { const p = document.createElement('p'); p.id = 'new'; p.textContent = i.value; document.body.append(p) }, 200) }
         i.onkeydown = e => { if (e.key === 'Enter') i.value += '!' }</script>",
    )]);
    let tab = house.tab(&Reach::nothing(), Some(pages));
    tab.open("https://root.invalid/index.html", SOON).unwrap();
    tab.type_into("#i", "wörds").unwrap();
    tab.press("Enter").unwrap();
    tab.click("#b").unwrap();
    tab.wait_for("#new", SOON).unwrap();
    let main = tab.main().unwrap();
    assert_eq!(
        tab.evaluate(&main, "document.querySelector('#new').textContent", SOON).unwrap(),
        json!("wörds!")
    );
    assert!(tab.settle(SOON).unwrap());
    let soon = std::time::Duration::from_millis(300);
    assert!(matches!(tab.wait_for("#never", soon), Err(BrowserError::NoElement(_))));
    assert!(matches!(tab.click("#never"), Err(BrowserError::NoElement(_))));
    let failed = tab.evaluate(&main, "nothing.here", SOON);
    assert!(
        matches!(&failed, Err(BrowserError::Script(why)) if why.contains("nothing is not defined")),
        "{failed:?}"
    );
    assert_eq!(tab.evaluate(&main, "null", SOON).unwrap(), Value::Null);
}

#[test]
fn windows_that_a_page_opens_are_closed_and_names_in_them_are_not_looked_up() {
    let Some(house) = House::possible() else { return };
    let outer = Server::new(|path| match path {
        "/" => html("<script>for (let i = 0; i < 4; i++) open('/window' + i)</script><p>x"),
        _ => html("<script>setInterval(() => fetch('/alive'), 100)</script>"),
    });
    let tab = house.tab(&Reach::public().with_loopback(), None);
    tab.open(&outer.url("/"), SOON).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let before = outer.asked().iter().filter(|path| *path == "/alive").count();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let after = outer.asked().iter().filter(|path| *path == "/alive").count();
    assert_eq!(before, after, "nobody goes on asking: {:?}", outer.asked());
}

#[test]
fn the_status_is_the_pages_own_and_not_a_frames() {
    let Some(house) = House::possible() else { return };
    let outer = Server::new(|path| match path {
        "/" => html("<iframe src=/missing></iframe>"),
        _ => ("404 Not Found".to_owned(), "no".to_owned()),
    });
    let tab = house.tab(&Reach::public().with_loopback(), None);
    assert_eq!(tab.open(&outer.url("/"), SOON).unwrap().status, Some(200));
}
