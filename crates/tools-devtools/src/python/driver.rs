//! Runs a file or a module as Python would, within something that measures, and ends as it ends. Python's own front ends for that swallow
//! `sys.exit`, and py-spy does not say how the program ended.

/// What the driver is called where the program finds it.
pub(crate) const NAME: &str = "measured_by_gatewright.py";

/// Makes `run` and `given` of the arguments behind the file that is left.
const HEAD: &str = r#"import os, runpy, sys, types
out = sys.argv[1]
del sys.argv[:2]
if sys.argv[0] == "-m":
    del sys.argv[0]
    sys.path[0] = os.getcwd()
    run, given = runpy.run_module, (sys.argv[0], None, "__main__", True)
else:
    file = sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(file))
    with open(file, "rb") as source:
        code = compile(source.read(), file, "exec")
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = file, __builtins__
    sys.modules["__main__"] = main
    run, given = exec, (code, main.__dict__)
"#;

const PROFILED: &str = r"import cProfile
profile = cProfile.Profile()
try:
    profile.runcall(run, *given)
finally:
    profile.dump_stats(out)
";

const TOLD: &str = r#"ended, own = 1, os.getpid()
try:
    run(*given)
    ended = 0
except SystemExit as end:
    ended = end.code if isinstance(end.code, int) else int(end.code is not None)
    raise
finally:
    # A child of its own ends here, too.
    if os.getpid() == own:
        with open(out, "w") as told:
            told.write(str(ended & 0xff))
"#;

/// Measures every call with cProfile, and leaves the profile in the file of its first argument.
pub(crate) fn profiled() -> Vec<u8> {
    [HEAD, PROFILED].concat().into_bytes()
}

/// Leaves the program's exit code in the file of its first argument.
pub(crate) fn told() -> Vec<u8> {
    [HEAD, TOLD].concat().into_bytes()
}
