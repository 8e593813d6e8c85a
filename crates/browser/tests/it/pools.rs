//! Browsers: shared, apart, gone.

use std::time::{Duration, Instant};

use exec::address::Reach;
use gatewright_browser::{BrowserError, Given, Options, Wear, Window};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{House, SOON, site};

/// The processes of browsers that this process started.
fn running() -> usize {
    let own = std::process::id().to_string();
    let parent = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.to_owned())
    };
    let mut found = 0;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let mut at = entry.file_name().to_string_lossy().into_owned();
        if !at.bytes().all(|b| b.is_ascii_digit()) || at == own {
            continue;
        }
        while let Some(next) = parent(&at) {
            if next == own {
                found += 1;
                break;
            }
            at = next;
        }
    }
    found
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn tabs_share_no_cookies_and_owners_no_browser_and_nothing_is_left() {
    let Some(house) = House::possible() else { return };
    let pages = site(&[("/", "<script>document.cookie = 'a=1'; localStorage.x = 1</script>")]);
    let tab = house.tab(&Reach::nothing(), Some(pages.clone()));
    tab.open("https://root.invalid/", SOON).unwrap();
    let other = house.tab(&Reach::nothing(), Some(site(&[("/", "<p>x")])));
    other.open("https://root.invalid/", SOON).unwrap();
    let main = other.main().unwrap();
    let seen = other.evaluate(&main, "[document.cookie, localStorage.length]", SOON).unwrap();
    assert_eq!(seen, json!(["", 0]));
    assert_eq!(house.pool.browsers(), 1);
    let bounds = (Instant::now() + SOON, &CancellationToken::new());
    let third = house.pool.tab(
        "somebody else",
        &Reach::nothing(),
        (Window::default(), Given { pages: Some(pages), ..Given::default() }),
        bounds,
    );
    assert_eq!(house.pool.browsers(), 2);
    drop((tab, other, third));
    house.pool.close();
    assert_eq!(house.pool.browsers(), 0);
}

#[test]
fn a_browser_is_let_go_after_so_many_tabs_after_so_long_and_when_nobody_needs_it() {
    let wear = |tabs, age, idle| Options { wear: Wear { tabs, age, idle }, ..Options::default() };
    let (long, short) = (Duration::from_mins(5), Duration::from_millis(1_500));
    let page = || Some(site(&[("/", "<p>x")]));

    let Some(house) = House::with(wear(2, long, long)) else { return };
    let first = house.tab(&Reach::nothing(), page());
    drop(house.tab(&Reach::nothing(), page()));
    assert_eq!((house.pool.started(), house.pool.browsers()), (1, 1), "who still looks at it is not cut off");
    first.open("https://root.invalid/", SOON).unwrap();
    drop(first);
    assert_eq!(house.pool.browsers(), 0, "it has had its two");
    let third = house.tab(&Reach::nothing(), page());
    assert_eq!(house.pool.started(), 2);
    drop(third);
    house.pool.close();

    let Some(house) = House::with(wear(99, short, long)) else { return };
    drop(house.tab(&Reach::nothing(), page()));
    std::thread::sleep(short);
    drop(house.tab(&Reach::nothing(), page()));
    assert_eq!(house.pool.started(), 2, "an old one is not used again");
    house.pool.close();

    let Some(house) = House::with(wear(99, long, Duration::ZERO)) else { return };
    drop(house.tab(&Reach::nothing(), page()));
    assert_eq!(house.pool.browsers(), 0, "nobody needs it");
}

#[test]
fn a_crash_is_said_and_the_next_tab_works() {
    let Some(house) = House::possible() else { return };
    let tab = house.tab(&Reach::nothing(), Some(site(&[("/", "<p>x")])));
    let crashed = tab.open("chrome://crash", SOON);
    assert!(matches!(crashed, Err(BrowserError::Refused { .. })), "{crashed:?}");
    tab.open("https://root.invalid/", SOON).unwrap();
    let main = tab.main().unwrap();
    // A page that takes all memory that a page can have.
    let hungry = "(() => { const all = []; for (;;) all.push(new Array(1e7).fill(Math.random())) })()";
    let ended = tab.evaluate(&main, hungry, SOON);
    assert!(matches!(ended, Err(BrowserError::Crashed | BrowserError::Ended(_))), "{ended:?}");
    drop(tab);
    let tab = house.tab(&Reach::nothing(), Some(site(&[("/", "<p>x")])));
    tab.open("https://root.invalid/", SOON).unwrap();
}

#[test]
fn a_cancelled_call_and_one_out_of_time_let_go_at_once() {
    let Some(house) = House::possible() else { return };
    let cancel = CancellationToken::new();
    let bounds = (Instant::now() + Duration::from_mins(1), &cancel);
    let endless = site(&[("/", "<script>while (location.hash != '#x');</script>")]);
    let tab = house
        .pool
        .tab(
            "test",
            &Reach::nothing(),
            (Window::default(), Given { pages: Some(endless), ..Given::default() }),
            bounds,
        )
        .unwrap();
    let stopper = cancel.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        stopper.cancel();
    });
    let began = Instant::now();
    assert!(matches!(tab.open("https://root.invalid/", SOON), Err(BrowserError::Cancelled)));
    assert!(began.elapsed() < Duration::from_secs(5));
    thread.join().unwrap();
    drop(tab);
    let tab = house.tab(&Reach::nothing(), Some(site(&[("/", "<script>for (;;);</script>")])));
    let late = tab.open("https://root.invalid/", Duration::from_millis(500));
    assert!(matches!(late, Err(BrowserError::Timeout(_))), "{late:?}");
    drop(tab);
    house.pool.close();
}

#[test]
fn scans_in_a_row_leave_no_process_no_page_and_no_descriptor() {
    let Some(house) = House::possible() else { return };
    let pages = site(&[("/", "<iframe src=https://other.invalid/in></iframe>"), ("/in", "<p>in")]);
    let scan = || {
        let tab = house.tab(&Reach::nothing(), Some(pages.clone()));
        tab.open("https://root.invalid/", SOON).unwrap();
        let main = tab.main().unwrap();
        assert_eq!(tab.evaluate(&main, "1 + 1", SOON).unwrap(), json!(2));
    };
    scan();
    let before = descriptors();
    for _ in 0..10 {
        scan();
    }
    let settled = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        descriptors() <= before
    });
    assert!(settled, "{} descriptors, {before} before", descriptors());
    assert_eq!(house.pool.browsers(), 1);
    house.pool.close();
}

#[test]
fn a_pool_that_is_dropped_leaves_nobody() {
    // Other tests of this process have browsers, too: this one looks at its own world alone.
    let Some(house) = House::possible() else { return };
    let tab = house.tab(&Reach::nothing(), Some(site(&[("/", "<p>x")])));
    tab.open("https://root.invalid/", SOON).unwrap();
    assert!(running() >= 3);
    drop(tab);
    let pool = std::sync::Arc::downgrade(&house.pool);
    drop(house);
    assert!(pool.upgrade().is_none(), "nobody holds the pool");
}
