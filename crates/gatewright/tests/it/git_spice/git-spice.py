#!/usr/bin/env python3
"""Stands for git-spice, which cannot be had on the machines that test this. It says its arguments as a line of JSON, and then does to
the repository, with git itself, what the reference of git-spice says of the command: branches, its own record, pushes."""
import json, pathlib, subprocess, sys

RECORD = "refs/spice/data"


def run(*args, give=None, may_fail=False):
    ran = subprocess.run(["git", *args], input=give, capture_output=True, text=True)
    if ran.returncode and not may_fail:
        fail(f"git {' '.join(args)}: {ran.stderr.strip()}")
    return ran.stdout.strip() if ran.returncode == 0 else None


def fail(why):
    print(f"FTL {why}", file=sys.stderr)
    sys.exit(1)


def is_branch(name):
    return run("rev-parse", "--verify", "--quiet", f"refs/heads/{name}", may_fail=True) is not None


def current():
    return run("symbolic-ref", "--short", "HEAD", may_fail=True)


def load():
    text = run("cat-file", "blob", f"{RECORD}:record", may_fail=True)
    return json.loads(text) if text else None


def keep(record, why):
    blob = run("hash-object", "-w", "--stdin", give=json.dumps(record, sort_keys=True))
    tree = run("mktree", give=f"100644 blob {blob}\trecord\n")
    before = run("rev-parse", "--verify", "--quiet", RECORD, may_fail=True)
    parents = ["-p", before] if before else []
    run("update-ref", RECORD, run("commit-tree", tree, *parents, "-m", why))


def init(words):
    trunk = next((word[8:] for word in words if word.startswith("--trunk=")), None)
    if trunk and not is_branch(trunk):
        fail(f"not a branch: {trunk}")
    remote = (run("remote", may_fail=True) or "").split("\n")[0]
    keep({"trunk": trunk or current(), "remote": remote, "branches": {}}, "initialize")


def tip(name):
    return run("rev-parse", f"refs/heads/{name}")


def create(record, words):
    target = next((word[9:] for word in words if word.startswith("--target=")), None) or current()
    message = next((word[10:] for word in words if word.startswith("--message=")), None)
    name = words[words.index("--") + 1]
    if is_branch(name):
        fail(f"branch already exists: {name}")
    if target != record["trunk"] and target not in record["branches"]:
        fail(f"branch not tracked: {target}")
    base = tip(target)
    if message is not None:
        empty = run("diff-index", "--cached", "--quiet", "HEAD", may_fail=True) is not None
        run("checkout", "--quiet", "--detach", target)
        run("commit", "--quiet", "--message", message, *(["--allow-empty"] if empty else []))
    run("branch", name, "HEAD" if message is not None else base)
    run("checkout", "--quiet", name)
    record["branches"][name] = {"base": target, "hash": base}
    keep(record, f"create branch {name}")


def restack(record):
    was = current()
    for name, about in list(record["branches"].items()):
        base = tip(about["base"])
        if base != about["hash"]:
            run("rebase", "--quiet", "--onto", base, about["hash"], name)
            about["hash"] = base
    run("checkout", "--quiet", was)
    keep(record, "restack")


def submit(record):
    remote = record["remote"] or fail("no remote")
    if run("config", "spice.submit.publish", may_fail=True) != "false":
        fail(f'unsupported Git remote "{remote}": {run("remote", "get-url", remote)}')
    branches = [] if (pathlib.Path(__file__).parent / "no-push").exists() else record["branches"]
    for name in branches:
        seen = run("rev-parse", "--verify", "--quiet", f"refs/remotes/{remote}/{name}", may_fail=True)
        lease = [f"--force-with-lease={name}:{seen}"] if seen else []
        if seen != tip(name):
            run("push", *lease, remote, f"{tip(name)}:refs/heads/{name}")
        record["branches"][name]["upstream"] = name
    keep(record, "submit")


def sync(record):
    trunk, remote = record["trunk"], record["remote"] or fail("no remote")
    if current() == trunk:
        run("pull", "--quiet", "--rebase", remote, trunk)
    else:
        run("fetch", "--quiet", remote, f"{trunk}:{trunk}")
    for name in list(record["branches"]):
        merged = run("merge-base", "--is-ancestor", name, trunk, may_fail=True) is not None
        if merged and tip(name) != record["branches"][name]["hash"]:
            if current() == name:
                run("checkout", "--quiet", trunk)
            run("branch", "--quiet", "-D", name)
            del record["branches"][name]
            for other in record["branches"].values():
                if other["base"] == name:
                    other["base"] = trunk
    keep(record, "sync")


def log(record):
    print(json.dumps({"name": record["trunk"], "current": current() == record["trunk"]}))
    for name, about in record["branches"].items():
        line = {"name": name, "current": current() == name, "down": {"name": about["base"]}}
        line["down"]["needsRestack"] = tip(about["base"]) != about["hash"]
        print(json.dumps(line))


def main(words):
    if words == ["--version"]:
        print("git-spice 0.0.0 (stands for it in a test)")
        return
    print(json.dumps({"argv": words}))
    if words[:2] == ["repo", "init"]:
        init(words)
        return
    record = load() or fail("not initialized")
    match words[:2]:
        case ["branch", "create"]:
            create(record, words)
        case ["branch", "checkout"]:
            name = words[words.index("--") + 1]
            if not is_branch(name):
                fail(f'branch "{name}" does not exist')
            run("checkout", "--quiet", name)
        case ["stack", "restack"]:
            restack(record)
        case ["stack", "submit"]:
            submit(record)
        case ["repo", "sync"]:
            sync(record)
        case ["log", "short"]:
            log(record)
        case _:
            fail(f"unexpected argument {words}")


main(sys.argv[1:])
