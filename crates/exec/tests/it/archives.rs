//! P22: what archives hold reaches the disk only as changes of a plan.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use contract::{Code, Fault};
use flate2::Compression;
use flate2::write::GzEncoder;
use gatewright_exec::archive::{self, MAX_RATIO};
use proptest::prelude::*;
use tar::EntryType;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{Place, path};

/// One entry of a tar archive, with any name whatever: the crate's own builder refuses the bad ones.
fn entry(name: &str, kind: EntryType, mode: u32, link: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link.as_bytes());
    header.set_mode(mode);
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

fn file(name: &str, mode: u32, text: &str) -> Vec<u8> {
    entry(name, EntryType::Regular, mode, "", text.as_bytes())
}

fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut out = entries.concat();
    out.resize(out.len() + 1024, 0);
    out
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, mode, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Gives every entry of a zip archive this whole Unix mode, kind and special bits included.
fn with_mode(mut zip: Vec<u8>, mode: u32) -> Vec<u8> {
    let mut at = 0;
    while let Some(next) = zip[at..].windows(4).position(|w| w == b"PK\x01\x02") {
        at += next;
        zip[at + 40..at + 42].copy_from_slice(&u16::try_from(mode).unwrap().to_le_bytes());
        at += 4;
    }
    zip
}

/// Unpacks `archive` below `into` and applies the plan.
fn unpacked(place: &Place, archive: &[u8]) -> Result<(), Fault> {
    let plan = place.plan(|draft, view| draft.unpack(view, archive, Some(&path("into"))))?;
    place.apply(&plan).map(|_| ())
}

/// Everything beneath a folder and around it, without gatewright's state.
fn everything(place: &Place) -> Vec<String> {
    fn walk(dir: &std::path::Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            names.push(entry.path().to_string_lossy().into_owned());
            if entry.file_type().unwrap().is_dir() && entry.file_name() != "state" {
                walk(&entry.path(), names);
            }
        }
    }
    let mut names = Vec::new();
    walk(place.outside(), &mut names);
    names.sort();
    names
}

#[test]
fn archives_of_every_format_unpack_to_the_same_files() {
    let plain = tar(&[
        entry("./", EntryType::Directory, 0o755, "", b""),
        entry("./d/", EntryType::Directory, 0o777, "", b""),
        file("./d/a.txt", 0o644, "one"),
        file("run", 0o755, "two"),
    ]);
    let zipped = zip(&[("d/a.txt", 0o644, b"one"), ("run", 0o755, b"two")]);
    for archive in [gz(&plain), plain, zipped] {
        let place = Place::new(&[]);
        unpacked(&place, &archive).unwrap();
        assert_eq!(place.read("into/d/a.txt").as_deref(), Some("one"));
        assert_eq!(place.read("into/run").as_deref(), Some("two"));
        let mode = |name| fs::metadata(place.path(name)).unwrap().permissions().mode();
        assert_eq!((mode("into/run") & 0o100, mode("into/d/a.txt") & 0o100), (0o100, 0));
    }
}

#[test]
fn the_archives_of_other_programs_unpack() {
    let place = Place::new(&[("src/deep/a.txt", "one"), ("src/b.sh", "#!/bin/sh\n")]);
    let long = format!("src/{}/{}.txt", "n".repeat(90), "m".repeat(90));
    fs::create_dir_all(place.path(&long).parent().unwrap()).unwrap();
    fs::write(place.path(&long), "a name beyond ustar's").unwrap();
    let made = |arguments: &[&str]| {
        let status = std::process::Command::new(arguments[0])
            .args(&arguments[1..])
            .current_dir(place.path(""))
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    made(&["tar", "-czf", "gnu.tgz", "src"]);
    made(&["tar", "--format=posix", "-cf", "pax.tar", "src"]);
    made(&["python3", "-m", "zipfile", "-c", "python.zip", "src"]);
    for name in ["gnu.tgz", "pax.tar", "python.zip"] {
        let into = Place::new(&[]);
        unpacked(&into, &fs::read(place.path(name)).unwrap()).unwrap();
        assert_eq!(into.read("into/src/deep/a.txt").as_deref(), Some("one"), "{name}");
        assert_eq!(into.read(&format!("into/{long}")).as_deref(), Some("a name beyond ustar's"), "{name}");
    }
}

#[test]
fn p22_entries_that_leave_are_refused_and_nothing_is_written() {
    let names = ["../x", "a/../../x", "/etc/x", "a//../x", "..\\x", "C:\\x", ".git/hooks/pre-commit"];
    for name in names {
        let archives = [
            tar(&[file("good", 0o644, "g"), file(name, 0o644, "canary")]),
            gz(&tar(&[file("good", 0o644, "g"), file(name, 0o644, "canary")])),
            zip(&[("good", 0o644, b"g"), (name, 0o644, b"canary")]),
        ];
        for archive in archives {
            let place = Place::new(&[(".git/config", "")]);
            let before = everything(&place);
            // At the root's top, where `.git` would be the repository's own.
            let planned = place.plan(|draft, view| draft.unpack(view, &archive, None));
            assert_eq!(planned.unwrap_err().code, Code::PathNotAllowed, "{name}");
            assert_eq!(everything(&place), before, "{name}");
        }
    }
    let not_text = tar(&[entry("bad", EntryType::Regular, 0o644, "", b"")]);
    let not_text = {
        let mut bytes = not_text;
        bytes[0] = 0xff;
        let sum: u32 = bytes[..512]
            .iter()
            .enumerate()
            .map(|(i, b)| if (148..156).contains(&i) { 32 } else { u32::from(*b) })
            .sum();
        bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes
    };
    assert_eq!(archive::files(&not_text).unwrap_err().code, Code::InvalidSource);
}

#[test]
fn p22_links_and_devices_are_refused_with_what_follows_them() {
    let link = |kind| tar(&[entry("l", kind, 0o777, "..", b""), file("l/x", 0o644, "canary")]);
    let mut archives = vec![link(EntryType::Symlink), link(EntryType::Link)];
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        archives.push(tar(&[entry("special", kind, 0o666, "", b"")]));
    }
    let mut linked = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    linked.add_symlink("l", "..", SimpleFileOptions::default()).unwrap();
    linked.start_file("l/x", SimpleFileOptions::default()).unwrap();
    archives.push(linked.finish().unwrap().into_inner());
    for kind in [0o020_666, 0o060_666, 0o010_666, 0o140_666] {
        archives.push(with_mode(zip(&[("special", 0o644, b"")]), kind));
    }
    for archive in archives {
        let place = Place::new(&[]);
        let before = everything(&place);
        assert_eq!(unpacked(&place, &archive).unwrap_err().code, Code::PathNotAllowed);
        assert_eq!(everything(&place), before);
    }
    // A link that stands there already is no way out either.
    let place = Place::new(&[]);
    std::os::unix::fs::symlink("../..", place.path("into")).unwrap();
    let archive = tar(&[file("x", 0o644, "canary")]);
    assert_eq!(unpacked(&place, &archive).unwrap_err().code, Code::PathNotAllowed);
    assert!(!place.outside().join("x").exists());
}

#[test]
fn p22_special_bits_of_the_mode_are_dropped() {
    let tarred = tar(&[file("run", 0o7777, "#!")]);
    let zipped = with_mode(zip(&[("run", 0o755, b"#!")]), 0o107_777);
    for archive in [tarred, zipped] {
        let place = Place::new(&[]);
        unpacked(&place, &archive).unwrap();
        let mode = fs::metadata(place.path("into/run")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7000, 0, "{mode:o}");
        assert_eq!(mode & 0o100, 0o100, "{mode:o}");
    }
}

#[test]
fn p22_bombs_stop_at_their_bound() {
    let zeros = vec![0_u8; 64 << 20];
    let bombs = [
        ("tar.gz", gz(&tar(&[entry("zeros", EntryType::Regular, 0o644, "", &zeros)]))),
        ("zip", zip(&[("zeros", 0o644, &zeros)])),
        // A name as long as a file: bytes that are read before any entry is seen.
        (
            "long name",
            gz(&tar(&[entry("n", EntryType::GNULongName, 0o644, "", &zeros), file("x", 0o644, "")])),
        ),
        // Each entry is small for the archive, all together are not.
        (
            "many",
            gz(&tar(&(0..64)
                .map(|n| file(&format!("f{n}"), 0o644, &"0".repeat(1 << 20)))
                .collect::<Vec<_>>())),
        ),
        ("entries", tar(&(0..10_001).map(|n| file(&format!("f{n}"), 0o644, "")).collect::<Vec<_>>())),
    ];
    for (name, bomb) in bombs {
        let place = Place::new(&[]);
        assert_eq!(unpacked(&place, &bomb).unwrap_err().code, Code::TooLarge, "{name}, {} bytes", bomb.len());
        assert!(!place.path("into").exists(), "{name}");
    }
    // What compresses well without being a bomb is unpacked.
    let sparse = format!("{}{}", "0".repeat(900_000), "1".repeat(90_000));
    assert!(MAX_RATIO * (gz(sparse.as_bytes()).len() as u64) < sparse.len() as u64);
    assert_eq!(archive::files(&gz(&tar(&[file("x", 0o644, &sparse)]))).unwrap()[0].bytes.len(), sparse.len());
}

#[test]
fn an_archive_in_an_archive_is_a_file() {
    let inner = zip(&[("zeros", 0o644, &vec![0_u8; 1 << 20])]);
    let outer = zip(&[("inner.zip", 0o644, &inner)]);
    let files = archive::files(&outer).unwrap();
    assert_eq!((files.len(), &files[0].bytes), (1, &inner));
}

#[test]
fn entries_that_claim_one_place_are_refused() {
    let archives = [
        tar(&[file("a", 0o644, "1"), file("./a", 0o644, "2")]),
        tar(&[file("a", 0o644, "1"), file("a/b", 0o644, "2")]),
        tar(&[file("a/b", 0o644, "1"), file("a", 0o644, "2")]),
        tar(&[file("a", 0o644, "1"), entry("a/", EntryType::Directory, 0o755, "", b"")]),
        tar(&[entry("a/", EntryType::Directory, 0o755, "", b""), file("a", 0o644, "1")]),
        zip(&[("a", 0o644, b"1"), ("a/b", 0o644, b"2")]),
    ];
    for archive in archives {
        assert_eq!(archive::files(&archive).unwrap_err().code, Code::InvalidSource);
    }
}

#[test]
fn what_is_no_archive_is_refused() {
    let whole = gz(&tar(&[file("a", 0o644, &"text ".repeat(500))]));
    let mut locked = zip(&[("a", 0o644, b"secret")]);
    for signature in [&b"PK\x01\x02"[..], b"PK\x03\x04"] {
        let at = locked.windows(4).position(|w| w == signature).unwrap();
        locked[at + if signature[2] == 1 { 8 } else { 6 }] |= 1;
    }
    let broken: [&[u8]; 6] =
        [b"", b"no archive", &[b'x'; 4096], &whole[..whole.len() / 2], b"PK\x03\x04", &locked];
    for bytes in broken {
        assert_eq!(archive::files(bytes).unwrap_err().code, Code::InvalidSource, "{} bytes", bytes.len());
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic_and_whatever_it_finds_stays_inside(
        start in prop::sample::select(vec![
            Vec::new(),
            tar(&[file("a/b", 0o644, "text")]),
            gz(&tar(&[file("a/b", 0o644, "text")])),
            zip(&[("a/b", 0o755, b"text"), ("c", 0o644, b"more")]),
        ]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
    ) {
        let mut bytes = start;
        for (at, byte) in edits {
            if bytes.is_empty() { bytes.push(byte) } else { let at = at.index(bytes.len()); bytes[at] = byte }
        }
        for file in archive::files(&bytes).unwrap_or_default() {
            prop_assert!(file.path.components().all(|c| c != ".." && !c.is_empty()));
        }
    }
}
