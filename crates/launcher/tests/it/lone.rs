//! The battery once more, without namespaces: what holds then, and what does not.

use super::*;

/// A world of filters alone. Whether the kernel has Landlock is all that it asks of a machine.
fn lone() -> Option<World> {
    let mut world = World::new();
    world.spec.ground.isolation = Isolation::Filters;
    match world.run("exit 0").reports.first() {
        Some(Report::Ready { layers }) if layers.contains(&Layer::Landlock) => Some(world),
        other => {
            skip(&format!("programs without a world of their own ({other:?})"));
            None
        }
    }
}

#[test]
fn without_namespaces_the_filters_hold_and_only_they_are_reported() {
    let Some(world) = lone() else { return };
    let ran = world.run("echo said; echo warned >&2; echo made > file; exit 7");
    assert_eq!((ran.code(), ran.out.as_str(), ran.err.as_str()), (7, "said\n", "warned\n"));
    assert_eq!(ran.layers(), [Layer::Capabilities, Layer::Landlock, Layer::Seccomp]);
    assert_eq!(fs::read_to_string(world.path("root/file")).unwrap(), "made\n");
    assert_eq!(world.run("kill -9 $$").reports.last(), Some(&Report::Killed { signal: 9 }));
}

#[test]
fn s02_without_namespaces_nothing_outside_is_read_written_made_or_removed() {
    let Some(world) = lone() else { return };
    fs::write(world.path("secret"), "canary").unwrap();
    let secret = world.path("secret").display().to_string();
    let ran = world.run(&format!(
        "cat {secret} /etc/shadow /root/.bashrc 2>/dev/null; ls {} 2>/dev/null; echo x > {secret}; rm -f {secret}; \
         mv {secret} . ; ln {secret} linked; echo x > ../new; echo x > /tmp/from-a-lone-run; true",
        world.path("").display()
    ));
    assert_eq!(ran.out, "", "{}", ran.err);
    assert_eq!(fs::read_to_string(world.path("secret")).unwrap(), "canary");
    for made in ["new", "root/linked"] {
        assert!(!world.path(made).exists(), "{made}");
    }
    assert!(!Path::new("/tmp/from-a-lone-run").exists());
}

#[test]
fn s06_without_namespaces_nobody_survives_the_program_or_who_asked_for_it() {
    let Some(world) = lone() else { return };
    let mark = format!("{}.75", 5_000 + std::process::id());
    let daemon = format!("(setsid sh -c 'trap \"\" TERM HUP; sleep {mark} & wait' &) ; sleep 0.2");
    assert_eq!(world.run(&daemon).code(), 0);
    gone(&mark);
    // Whoever asked for it goes away while they run.
    let (mut child, mut said) = world.start(&format!("{daemon}; sleep {mark}"));
    assert!(matches!(said.report().unwrap(), Some(Report::Ready { .. })));
    std::thread::sleep(Duration::from_millis(300));
    assert!(processes(&mark) > 0);
    drop(said);
    child.wait().unwrap();
    gone(&mark);
}

#[test]
fn s14_s18_without_namespaces_there_is_no_socket_to_anywhere_and_no_signal_to_others() {
    let Some(mut world) = lone() else { return };
    let me = std::process::id();
    let script = format!(
        "python3 - <<'E'\nimport socket, os\n\
         def tried(what, work):\n    try:\n        work(); print(what, 'REACHED')\n    except OSError as e: print(what, e.errno)\n\
         tried('tcp', lambda: socket.socket(socket.AF_INET))\n\
         tried('six', lambda: socket.socket(socket.AF_INET6))\n\
         tried('vsock', lambda: socket.socket(40))\n\
         tried('netlink', lambda: socket.socket(16, socket.SOCK_RAW, 0))\n\
         tried('unix', lambda: socket.socket(socket.AF_UNIX))\n\
         tried('pair', lambda: socket.socketpair())\n\
         tried('limits', lambda: __import__('resource').prlimit({me}, 0, (1, 1)))\n\
         tried('signal', lambda: os.kill({me}, 0))\nE"
    );
    let ran = world.run(&script);
    assert_eq!(
        ran.out, "tcp 1\nsix 1\nvsock 1\nnetlink 1\nunix 1\npair REACHED\nlimits 1\nsignal 1\n",
        "{}",
        ran.err
    );
    world.spec.ground.is_online = true;
    assert!(world.run(&script).out.starts_with("tcp REACHED\n"));
    world.spec.network = Network::Door;
    assert!(
        matches!(&world.run(&script).reports[..], [Report::Failed { doing, .. }] if doing.contains("door"))
    );
}

#[test]
fn s20_without_namespaces_no_program_gains_a_right() {
    let Some(world) = lone() else { return };
    let ran = world.run("grep -E 'NoNewPrivs|Cap(Inh|Prm|Eff|Bnd|Amb)|Seccomp:' /proc/self/status");
    for line in ran.out.lines().filter(|line| line.starts_with("Cap")) {
        assert!(line.ends_with("0000000000000000"), "{line}");
    }
    assert!(ran.out.contains("NoNewPrivs:\t1") && ran.out.contains("Seccomp:\t2"), "{}", ran.out);
}

#[test]
fn without_namespaces_an_ordinary_user_has_the_filters_too() {
    let Some(world) = lone() else { return };
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    world.owned_by(12_345);
    let launcher = Path::new(env!("CARGO_BIN_EXE_gatewright-launch"));
    let is_reached = |dir: &Path| fs::metadata(dir).is_ok_and(|m| m.mode() & 0o001 != 0);
    if !launcher.ancestors().skip(1).all(is_reached) {
        skip("the filters as an ordinary user (its folder is closed to others)");
        return;
    }
    let ran = world.run_as("id -u; cat /etc/shadow 2>/dev/null; ulimit -n", Some(12_345));
    assert_eq!(ran.code(), 0, "{:?} {}", ran.reports, ran.err);
    assert!(ran.out.starts_with("12345\n"), "{}", ran.out);
}
