//! Who may change a library: over HTTP only where it is shared, may be changed, and the token may apply; nobody where its disk is read-only.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::promote::{bench, beside, fails, files};
use crate::bench::Session;
use crate::oauth::{Issuer, call, serve};
use crate::remote::Remote;

fn tell(remote: &Remote, token: &str, arguments: &Value) -> (u16, Value) {
    let answer = call(remote, &[("authorization", &format!("Bearer {token}"))], "promote_pattern", arguments);
    let body = if answer.status == 200 { answer.message()["result"].clone() } else { Value::Null };
    (answer.status, body)
}

fn error(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result:#}");
    serde_json::from_str::<Value>(result["content"][0]["text"].as_str().unwrap()).unwrap()["error"].clone()
}

#[test]
fn over_http_a_library_is_changed_only_where_it_is_shared_and_may_be_changed() {
    let Some(issuer) = Issuer::start("RS256") else { return };
    let bench = bench(&[(".shared-patterns/ui/card.md", "---\nquality: 8\n---\n# Card\n")]);
    fs::create_dir(beside(&bench, "open")).unwrap();
    let at = |name: &str| beside(&bench, name).display().to_string();
    let libraries = format!(
        "[library]\nuser = {:?}\n[library.team.core]\npath = {:?}\nwrite = true\n\
         [library.team.open]\npath = {:?}\nwrite = true\nshared = true\n[library.team.frozen]\npath = {:?}\nshared = true\n",
        at("mine"),
        at("core"),
        at("open"),
        at("frozen")
    );
    let remote = serve(&bench.place, &format!("{}{libraries}", issuer.config("")));
    let alice = issuer.mint("good", "alice", &["gatewright:apply"]);
    let promote = |library: &str| json!({ "action": "promote", "patternId": "ui/card", "library": library, "apply": true });
    // What is not shared is not there, whoever's it is.
    for library in ["user", "core"] {
        let (_, refused) = tell(&remote, &alice, &promote(library));
        let refused = error(&refused);
        assert_eq!(refused["code"], "not_found", "{refused:#}");
        assert!(
            refused["message"].as_str().unwrap().ends_with("there are: frozen, open, project"),
            "{refused:#}"
        );
    }
    assert_eq!(error(&tell(&remote, &alice, &promote("frozen")).1)["code"], "forbidden");
    // A token that may only look rehearses, and is told what it lacks.
    let looks = issuer.mint("good", "alice", &["gatewright:read"]);
    assert_eq!(tell(&remote, &looks, &promote("open")).0, 403);
    // Whoever has no root has nothing to promote.
    let bob = issuer.mint("good", "bob", &["gatewright:apply"]);
    assert_eq!(error(&tell(&remote, &bob, &promote("open")).1)["code"], "pattern_not_found");
    let mut rehearsal = promote("open");
    rehearsal["apply"] = json!(false);
    let (_, rehearsed) = tell(&remote, &alice, &rehearsal);
    let plan = rehearsed["structuredContent"]["plan"]["id"].clone();
    assert!(plan.is_string(), "{rehearsed:#}");
    rehearsal["plan"] = plan;
    rehearsal["apply"] = json!(true);
    // A plan is its owner's.
    assert_eq!(error(&tell(&remote, &bob, &rehearsal).1)["code"], "not_found");
    let (_, done) = tell(&remote, &alice, &rehearsal);
    assert_eq!(done["structuredContent"]["status"], "completed", "{done:#}");
    assert_eq!(files(&beside(&bench, "open")).len(), 1);
    for library in ["mine", "core", "frozen"] {
        assert!(files(&beside(&bench, library)).is_empty(), "{library}");
    }
    remote.finish();
    let transcript = done["structuredContent"]["metadata"]["transcript"].as_str().unwrap();
    bench.place.ok(&["undo", transcript]);
    assert!(files(&beside(&bench, "open")).is_empty());
}

#[test]
fn a_library_on_a_read_only_disk_is_refused_before_anything_is_planned() {
    if !Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|out| out.status.success()) {
        return crate::skip("a library on a read-only disk (no namespaces)");
    }
    let bench = bench(&[(".shared-patterns/ui/card.md", "---\nquality: 8\n---\n# Card\n")]);
    let core = beside(&bench, "core");
    let mounted = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    bench.place.home(&mut command).args(["-rm", "sh", "-c", mounted]).arg(&core);
    command.args([env!("CARGO_BIN_EXE_gatewright"), "--root", bench.place.root().to_str().unwrap()]);
    let mut session = Session::over(&mut command);
    let call = |library: &str| json!({ "action": "promote", "patternId": "ui/card", "library": library });
    let refused = fails(&mut session, &call("core"));
    assert_eq!(refused["code"], "forbidden", "{refused:#}");
    assert!(refused["message"].as_str().unwrap().contains("read-only"), "{refused:#}");
    assert!(refused["suggestions"].to_string().contains("Make it writable"), "{refused:#}");
    assert_eq!(session.ok("promote_pattern", call("user"))["status"], "proposed");
}

#[test]
fn a_person_applies_a_librarys_plan_by_the_beginning_of_its_id_and_takes_it_back_from_elsewhere() {
    let bench = bench(&[(".shared-patterns/ui/card.md", "---\nquality: 8\n---\n# Card\n")]);
    let core = beside(&bench, "core");
    let call =
        ["call", "promote_pattern", "--action", "promote", "--pattern-id", "ui/card", "--library", "core"];
    let said = |more: &[&str]| bench.place.json(&[&call[..], more, &["--output", "json"]].concat());
    let plan = said(&[])["plan"]["id"].as_str().unwrap().to_owned();
    assert!(files(&core).is_empty());
    let done = said(&["--apply", "--plan", &plan[..20]]);
    assert_eq!(done["status"], "completed", "{done:#}");
    assert!(core.join("ui/card.md").exists());
    let transcript = done["metadata"]["transcript"].as_str().unwrap();
    // The repository's own last call is another.
    assert!(bench.place.fails(&["undo", "last"]).1.contains("no call is left"));
    let elsewhere = beside(&bench, "elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright"));
    bench.place.home(&mut command).args(["--root", elsewhere.to_str().unwrap(), "undo", transcript]);
    assert!(command.output().unwrap().status.success());
    assert!(files(&core).is_empty());
}
