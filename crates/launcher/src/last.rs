//! The last steps before the program: limits, capabilities, Landlock, seccomp. Each takes something away for good.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use crate::spec::{Isolation, Layer, Limits, Report, Spec};
use crate::{Done, Failure, sys, talk};

/// The newest Landlock that is asked for; an older kernel gives what it has.
const LANDLOCK: ABI = ABI::V6;

/// The first descriptor that is none of the channel's.
const ABOVE: i32 = 10;

/// Becomes the program. `layers` hold already; `init` is told which do at last.
pub(crate) fn exec(
    spec: &Spec,
    mut layers: Vec<Layer>,
    init: &OwnedFd,
    channel: Option<&OwnedFd>,
) -> Done<Infallible> {
    setsid().map_err(Failure::doing("beginning a session"))?;
    limits(&spec.limits)?;
    // SAFETY-relevant order: Landlock and seccomp ask for no_new_privs, and dropping capabilities comes before both.
    set_no_new_privs(true).map_err(Failure::doing("giving up new privileges"))?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    bounding_set()?;
    set_capabilities(None, none).map_err(Failure::doing("dropping capabilities"))?;
    layers.push(Layer::Capabilities);
    if landlocked(spec)? {
        layers.push(Layer::Landlock);
    } else if spec.strict {
        return Err(Failure { doing: "asking for Landlock".into(), why: "the kernel has none".into() });
    }
    sys::close_others_on_exec().map_err(Failure::doing("closing what is open"))?;
    // Out of the way of the channel's places.
    let init = fcntl_dupfd_cloexec(init, ABOVE).map_err(Failure::doing("closing what is open"))?;
    if let (Some(channel), Some(given)) = (channel, spec.channel) {
        let channel = fcntl_dupfd_cloexec(channel, ABOVE).map_err(Failure::doing("giving the channel"))?;
        for place in given.places() {
            sys::give(&channel, place).map_err(Failure::doing("giving the channel"))?;
        }
    }
    // In a world of its own there are no processes but those of this run and the launcher, which is not restricted as they are: that
    // keeps it from them (landlock(7), "Ptrace restrictions").
    let alone = [Layer::Namespaces, Layer::Proc, Layer::Landlock];
    if spec.observes && !alone.iter().all(|layer| layers.contains(layer)) {
        let why = "they are not alone in a world of their own".to_owned();
        return Err(Failure { doing: "letting programs read each other's memory".into(), why });
    }
    let filters = filters(spec)?;
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).env_clear().envs(&spec.env).current_dir(&spec.dir);
    if let Some(called) = &spec.called {
        command.arg0(called);
    }
    for filter in &filters {
        apply_filter(filter).map_err(Failure::doing("filtering system calls"))?;
    }
    layers.push(Layer::Seccomp);
    talk::tell_init(&init, &Report::Ready { layers });
    Err(Failure::doing(format!("executing {}", spec.program.display()))(command.exec()))
}

fn limits(limits: &Limits) -> Done<()> {
    for (resource, most) in [
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.files),
        (Resource::Nproc, limits.processes),
        (Resource::Core, 0),
    ] {
        // Where less is allowed already, it stays at that.
        let most = getrlimit(resource).maximum.map_or(most, |present| present.min(most));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(Failure::doing("setting limits"))?;
    }
    Ok(())
}

/// Takes every capability out of the set from which programs could get one back.
fn bounding_set() -> Done<()> {
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // One that this kernel does not know.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            // Without a world of its own an ordinary user may not; and has none to give up, nor a way to new ones.
            Err(rustix::io::Errno::PERM) => {}
            Err(error) => return Err(Failure::doing("dropping capabilities")(error)),
        }
    }
    Ok(())
}

/// Restricts files to what the root shows, once more, and signals and abstract sockets to this world.
fn landlocked(spec: &Spec) -> Done<bool> {
    let asked = || -> Result<RulesetStatus, landlock::RulesetError> {
        // Where the folders of all are not private ones, they are not given.
        let private = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
        let private = private.into_iter().filter(|_| spec.ground.isolation == Isolation::Full);
        let is_of_etc = |path: &Path| spec.ground.isolation == Isolation::Full && path.starts_with("/etc");
        let readable = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/dev"]
            .into_iter()
            .map(std::path::PathBuf::from)
            // Of `/etc` there is what was put there, and rules cost: one does for all.
            .chain((spec.ground.isolation == Isolation::Full).then(|| "/etc".into()))
            .chain(
                spec.readable.iter().chain(&spec.ground.readable).filter(|path| !is_of_etc(path)).cloned(),
            );
        let writable = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
            .into_iter()
            .chain(private)
            .map(std::path::PathBuf::from)
            .chain(spec.writable.iter().map(|bound| bound.at.clone()))
            .chain(spec.overlay.iter().map(|overlay| overlay.lower.clone()));
        // Where rules are all that guards files, they must at least know of truncating.
        let ruleset = match spec.ground.isolation {
            Isolation::Full => Ruleset::default(),
            Isolation::Filters => Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(AccessFs::from_all(ABI::V3))?,
        };
        let status = ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .add_rules(path_beneath_rules(readable, AccessFs::from_read(LANDLOCK)))?
            .add_rules(path_beneath_rules(writable, AccessFs::from_all(LANDLOCK)))?
            .restrict_self()?;
        Ok(status.ruleset)
    };
    let status = asked().map_err(Failure::doing("restricting files"))?;
    Ok(status != RulesetStatus::NotEnforced)
}

/// Calls that no project's tool needs, and through which one could leave, look or stay.
const REFUSED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// `CLONE_NEW…`: the flags of a call that would make namespaces.
const NAMESPACES: u64 = 0x7e02_0080;

/// The filters, one for each answer.
fn filters(spec: &Spec) -> Done<Vec<BpfProgram>> {
    let arch =
        TargetArch::try_from(std::env::consts::ARCH).map_err(Failure::doing("filtering system calls"))?;
    let program = |rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32| -> Done<BpfProgram> {
        let answer = SeccompAction::Errno(errno.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch)
            .map_err(Failure::doing("filtering system calls"))?;
        BpfProgram::try_from(filter).map_err(Failure::doing("filtering system calls"))
    };
    let rule = |conditions: Vec<SeccompCondition>| {
        SeccompRule::new(conditions).map_err(Failure::doing("filtering system calls"))
    };
    let word = |index: u8, op: SeccompCmpOp, value: u64| {
        SeccompCondition::new(index, SeccompCmpArgLen::Dword, op, value)
            .map_err(Failure::doing("filtering system calls"))
    };
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // Reading is all that is given: nothing is written, stopped or traced.
    if spec.observes {
        refused.remove(&libc::SYS_process_vm_readv);
    }
    // Families of sockets: local, IPv4, IPv6 and netlink, which resolvers ask; and no multipath TCP. Where the network is
    // the machine's and not given, none: local ones lead to whoever listens on this machine, and pairs are made otherwise.
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let is_shut = spec.ground.isolation == Isolation::Filters && !spec.ground.is_online;
    let other = families
        .iter()
        .map(|family: &i32| word(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect::<Done<Vec<_>>>()?;
    let multipath = vec![word(2, SeccompCmpOp::Eq, u64::from(libc::IPPROTO_MPTCP.unsigned_abs()))?];
    refused.insert(libc::SYS_socket, if is_shut { Vec::new() } else { vec![rule(other)?, rule(multipath)?] });
    // The limits of others: taking their time away ends them.
    refused.insert(libc::SYS_prlimit64, vec![rule(vec![word(0, SeccompCmpOp::Ne, 0)?])?]);
    // Typing into the terminal that somebody else reads.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX]
        .into_iter()
        .map(|request| rule(vec![word(1, SeccompCmpOp::Eq, request)?]))
        .collect::<Done<Vec<_>>>()?;
    refused.insert(libc::SYS_ioctl, typing);
    let spaces = (0..64)
        .map(|bit| 1_u64 << bit)
        .filter(|bit| NAMESPACES & bit != 0)
        .map(|bit| rule(vec![word(0, SeccompCmpOp::MaskedEq(bit), bit)?]))
        .collect::<Done<Vec<_>>>()?;
    refused.insert(libc::SYS_clone, spaces);
    // Its flags lie in memory, where no filter looks: without it, libraries use the one whose flags are seen.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let mut filters = vec![program(unknown, libc::ENOSYS)?, program(refused, libc::EPERM)?];
    if cfg!(target_arch = "x86_64") {
        filters.push(without_x32());
    }
    Ok(filters)
}

/// Refuses the calls of x32: those of x86-64 with a bit more, which no other rule would know (seccomp(2), "Caveats").
fn without_x32() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    // Load the number; from the bit on refuse, else allow.
    [(0x20, 0, 0, 0), (0x35, 0, 1, X32), (0x06, 0, 0, refuse), (0x06, 0, 0, libc::SECCOMP_RET_ALLOW)]
        .map(|(code, jt, jf, k)| sock_filter { code, jt, jf, k })
        .into()
}
