//! Programs that go on.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::Code;
use gatewright_exec::address::Reach;
use gatewright_exec::run::{Channel, Level, Needs, Resident, Web};

use super::Place;
use super::house::launcher;

/// Says something, and then the value of each line that it is told.
const ANSWERS: &str = r"
import os, sys, urllib.request as u
def get(url, proxy=True):
    try:
        handler = u.ProxyHandler({'http': 'http://127.0.0.1:3128'} if proxy else {})
        return u.build_opener(handler).open(url, timeout=5).read().decode()
    except Exception as e:
        return getattr(e, 'code', 'none')
r, w = os.fdopen(3), os.fdopen(4, 'w')
print('said', flush=True)
for line in r:
    w.write(str(eval(line)) + '\n')
    w.flush()
";

fn start(place: &Place, script: &str) -> (Resident, UnixStream) {
    let needs = needs(script, 1 << 30);
    Resident::start(&launcher(), &place.state, None, needs).unwrap()
}

fn needs(script: &str, memory: u64) -> Needs {
    Needs {
        program: "/usr/bin/python3".into(),
        args: vec!["-c".into(), script.into()],
        env: [("MARK".to_owned(), "seen".to_owned())].into(),
        memory,
        web: Some(Arc::new(Web::new(Reach::public().with_loopback()))),
        channel: Channel::Beside,
        works: None,
    }
}

/// Whether this machine makes worlds; else that is said loudly.
fn possible() -> bool {
    let scratch = tempfile::tempdir().unwrap();
    let launcher = launcher();
    let offer = launcher.offer(scratch.path());
    if offer.level < Level::Full {
        crate::skip(&format!("programs that go on ({})", offer.missing.join("; ")));
    }
    offer.level == Level::Full
}

fn line(channel: &UnixStream) -> String {
    channel.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut line = String::new();
    let read = BufReader::new(channel).read_line(&mut line);
    assert!(read.is_ok(), "{read:?}");
    line.trim().to_owned()
}

/// Why it ended, when it has.
fn end(resident: &Resident) -> String {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) {
        if let Some(why) = resident.ended() {
            return why;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it goes on: {}", resident.tail());
}

#[test]
fn a_resident_is_spoken_with_sees_no_root_and_ends_when_it_is_dropped() {
    if !possible() {
        return;
    }
    let place = Place::new(&[("secret", "x")]);
    let (resident, mut channel) = start(&place, ANSWERS);
    let mut ask = |what: &str| {
        channel.write_all(format!("{what}\n").as_bytes()).unwrap();
        line(&channel)
    };
    assert_eq!(ask("os.environ['MARK'] + os.getcwd() + os.environ['HOME']"), "seen/tmp/tmp");
    assert_eq!(ask(&format!("os.path.exists({:?})", place.path("secret"))), "False");
    assert_eq!(ask(&format!("os.path.exists({:?})", place.state.path())), "False");
    assert_eq!(ask("open('/tmp/x', 'w').write('y')"), "1");
    let pids = ask("len([p for p in os.listdir('/proc') if p.isdigit()])");
    assert!(pids.parse::<u32>().unwrap() <= 3, "{pids}");
    assert!(resident.ended().is_none() && resident.tail().contains("said"));
    drop(resident);
    let mut rest = Vec::new();
    channel.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty(), "nobody is left who could hold the other end");
}

#[test]
fn a_resident_that_ends_or_takes_too_much_says_why() {
    if !possible() {
        return;
    }
    let place = Place::new(&[]);
    let (resident, _channel) = start(&place, "import sys; sys.stderr.write('why'); sys.exit(3)");
    assert_eq!(end(&resident), "it ended with code 3");
    assert_eq!(resident.tail(), "why");
    let hungry = needs(
        "import time\nall = bytearray(200 << 20)\nfor i in range(0, len(all), 4096): all[i] = 1\ntime.sleep(60)",
        64 << 20,
    );
    let (resident, _channel) = Resident::start(&launcher(), &place.state, None, hungry).unwrap();
    assert!(end(&resident).contains("MiB of memory"), "{:?}", resident.ended());
    let missing = Needs { program: "/usr/bin/no-such-program".into(), ..needs("", 1 << 30) };
    let (resident, _channel) = Resident::start(&launcher(), &place.state, None, missing).unwrap();
    assert!(end(&resident).contains("executing /usr/bin/no-such-program"), "{:?}", resident.ended());
    let weaker = launcher().at_most(Level::Filters);
    let fault = Resident::start(&weaker, &place.state, None, needs("", 1 << 30)).unwrap_err();
    assert_eq!(fault.code, Code::ConfinementUnavailable);
}

#[test]
fn a_resident_reaches_what_its_door_lets_through_and_nothing_else() {
    if !possible() {
        return;
    }
    let place = Place::new(&[]);
    let server = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for caller in server.incoming() {
            let mut caller = caller.unwrap();
            let mut head = [0; 1024];
            let _ = caller.read(&mut head);
            let _ = caller.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    let (_resident, mut channel) = start(&place, ANSWERS);
    let mut ask = |what: &str| {
        channel.write_all(format!("{what}\n").as_bytes()).unwrap();
        line(&channel)
    };
    assert_eq!(ask(&format!("get('http://127.0.0.1:{port}/')")), "hello");
    assert_eq!(
        ask(&format!("get('http://127.0.0.1:{port}/', False)")),
        "none",
        "its own loopback has no such server"
    );
    assert_eq!(ask("get('http://169.254.169.254/latest/')"), "403");
    assert_eq!(ask("get('http://192.168.1.1/')"), "403");
}

#[test]
fn a_resident_that_may_reach_nobody_speaks_over_its_streams() {
    if !possible() {
        return;
    }
    let place = Place::new(&[]);
    let script = "import sys, socket\nfor line in sys.stdin:\n  try:\n    s = socket.create_connection(('127.0.0.1', 3128), 2); print('open', flush=True)\n  except OSError as e:\n    print('shut', line.strip(), flush=True)\n";
    let needs = Needs { web: None, channel: Channel::Streams, ..needs(script, 1 << 28) };
    let (resident, channel) = Resident::start(&launcher(), &place.state, None, needs).unwrap();
    (&channel).write_all(b"hello\n").unwrap();
    assert_eq!(line(&channel), "shut hello");
    channel.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(end(&resident).contains("code 0"), "{}", end(&resident));
}
