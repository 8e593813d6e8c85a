//! Where clients keep their files, on every system, from what the environment says alone.

use std::path::PathBuf;

use gatewright_onboard::Client;
use gatewright_onboard::clients::{Home, Nowhere, folder};

fn place(client: Client, home: &Home) -> String {
    folder(client, home).unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_clients_folder_follows_the_environment() {
    let linux = Home { os: "linux".to_owned(), home: Some("/home/u".into()), ..Home::default() };
    assert_eq!(place(Client::ClaudeDesktop, &linux), "/home/u/.config/Claude");
    assert_eq!(place(Client::Codex, &linux), "/home/u/.codex");
    let moved = Home { config: Some("/x".into()), codex: Some("/c".into()), ..linux.clone() };
    assert_eq!(
        (place(Client::ClaudeDesktop, &moved), place(Client::Codex, &moved)),
        ("/x/Claude".to_owned(), "/c".to_owned())
    );
    let relative = Home { config: Some("x".into()), codex: Some("c".into()), ..linux.clone() };
    assert_eq!(
        (place(Client::ClaudeDesktop, &relative), place(Client::Codex, &relative)),
        ("/home/u/.config/Claude".to_owned(), "/home/u/.codex".to_owned())
    );
    let mac = Home { os: "macos".to_owned(), ..linux };
    assert_eq!(place(Client::ClaudeDesktop, &mac), "/home/u/Library/Application Support/Claude");
    assert_eq!(folder(Client::Codex, &Home::default()), Err(Nowhere::Unset("HOME")));
    assert_eq!(folder(Client::Cursor, &mac), Err(Nowhere::Project));
}

#[test]
fn on_windows_the_package_of_claude_desktop_goes_before_the_common_folder() {
    let mut windows = Home {
        os: "windows".to_owned(),
        roaming: Some(PathBuf::from("C:\\Users\\u\\AppData\\Roaming")),
        local: Some(PathBuf::from("C:\\Users\\u\\AppData\\Local")),
        ..Home::default()
    };
    assert!(place(Client::ClaudeDesktop, &windows).starts_with("C:\\Users\\u\\AppData\\Roaming"));
    windows.packages = vec!["Claude_pzs8sxrjxfjjc".to_owned()];
    let packaged = place(Client::ClaudeDesktop, &windows).replace('/', "\\");
    assert_eq!(
        packaged,
        "C:\\Users\\u\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude"
    );
    windows.packages.push("Claude_other".to_owned());
    assert!(matches!(folder(Client::ClaudeDesktop, &windows), Err(Nowhere::Several(_))));
}
