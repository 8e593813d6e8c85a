//! Guests: plugins of the examples in Rust, built for WebAssembly and made components.

use std::path::{Path, PathBuf};
use std::process::Command;

use wit_component::ComponentEncoder;

use crate::sh::{Done, output, step, target, top};

/// The machine that guests are built for: without WASI, so that they import nothing but what plugins are given.
const MACHINE: &str = "wasm32-unknown-unknown";

/// Debian's own compiler and its library's sources, of one version: what builds the library where rustup has none for that machine.
const PACKAGES: [&str; 5] =
    ["rustc-web", "rust-web-src", "libstd-rust-web-dev", "libstd-rust-web-1.96", "libllvm22"];

/// Folders of `examples/plugins` that are guests.
const GUESTS: [&str; 1] = ["word-count"];

/// Builds every guest into `target/plugins`; returns why not, where this machine cannot.
pub(crate) fn build() -> Done<Option<String>> {
    let compiler = match Compiler::find() {
        Ok(compiler) => compiler,
        Err(why) => return Ok(Some(format!("plugins in WebAssembly, built and called: {why}"))),
    };
    let place = target().join("plugins");
    std::fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    for name in GUESTS {
        let folder = top().join("examples/plugins").join(name);
        let module = compiler.build(name, &folder)?;
        let bytes = std::fs::read(&module).map_err(|e| format!("{}: {e}", module.display()))?;
        let component =
            component(&bytes).map_err(|why| format!("{name}: no component is made of it: {why}"))?;
        let file = place.join(format!("{name}.wasm"));
        std::fs::write(&file, &component).map_err(|e| format!("{}: {e}", file.display()))?;
        println!("  {} ({} bytes)", file.display(), component.len());
    }
    Ok(None)
}

pub(crate) fn run() -> Done {
    build()?.map_or(Ok(()), Err)
}

/// A module with what `wit-bindgen` put in it, as a component.
fn component(module: &[u8]) -> Done<Vec<u8>> {
    let mut encoder = ComponentEncoder::default();
    encoder = encoder.validate(true).module(module).map_err(|e| format!("{e:#}"))?;
    encoder.encode().map_err(|e| format!("{e:#}"))
}

/// How a guest is compiled here.
enum Compiler {
    /// By the toolchain itself.
    Own,
    /// By Debian's compiler, unpacked here, which compiles `core` and `alloc` along with the guest.
    Debian { unpacked: PathBuf, linker: PathBuf },
}

impl Compiler {
    fn find() -> Done<Self> {
        let sysroot = PathBuf::from(output("rustc", &["--print", "sysroot"])?.trim());
        let rustlib = sysroot.join("lib/rustlib");
        if rustlib.join(MACHINE).join("lib").is_dir() {
            return Ok(Self::Own);
        }
        let advice = format!("`rustup target add {MACHINE}` would do");
        let linker = rustlib.join("x86_64-unknown-linux-gnu/bin/rust-lld");
        if !linker.is_file() {
            return Err(format!("this toolchain has no linker for {MACHINE}; {advice}"));
        }
        let unpacked = target().join("rust-web");
        if !unpacked.join("complete").is_file() {
            unpack(&unpacked).map_err(|why| format!("{why}; {advice}"))?;
        }
        Ok(Self::Debian { unpacked, linker })
    }

    fn build(&self, name: &str, folder: &Path) -> Done<PathBuf> {
        let place = target().join("guests");
        let mut command = Command::new("cargo");
        let mut args = vec!["build", "--quiet", "--locked", "--release", "--target", MACHINE];
        command.current_dir(folder).env("CARGO_TARGET_DIR", &place);
        if let Self::Debian { unpacked, linker } = self {
            args.extend(["-Zbuild-std=core,alloc", "-Zbuild-std-features="]);
            command
                .env("LD_LIBRARY_PATH", unpacked.join("usr/lib/x86_64-linux-gnu"))
                .env("RUSTC", unpacked.join("usr/bin/rustc"))
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        step("cargo", command.args(&args), &args)?;
        Ok(place.join(MACHINE).join("release").join(format!("{}.wasm", name.replace('-', "_"))))
    }
}

/// Fetches the packages and unpacks them: they are not installed, so nothing of the machine changes.
fn unpack(place: &Path) -> Done {
    let archives = place.join("archives");
    std::fs::create_dir_all(&archives).map_err(|e| format!("{}: {e}", archives.display()))?;
    let args: Vec<&str> = ["download", "-qq"].into_iter().chain(PACKAGES).collect();
    step("apt-get", Command::new("apt-get").args(&args).current_dir(&archives), &args)?;
    let entries = std::fs::read_dir(&archives).map_err(|e| e.to_string())?;
    for archive in entries.flatten().map(|entry| entry.path()) {
        let (from, to) = (archive.display().to_string(), place.display().to_string());
        let args = ["-x", &from, &to];
        step("dpkg", Command::new("dpkg").args(args), &args)?;
    }
    std::fs::remove_dir_all(&archives).map_err(|e| e.to_string())?;
    std::fs::write(place.join("complete"), "").map_err(|e| e.to_string())
}
