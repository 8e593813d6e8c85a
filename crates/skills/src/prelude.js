// What a skill finds besides the language, and what of the language it does not find. Runs before anything of the skill;
// what it needs later it takes now, so that a skill can change the globals of its own realm without changing this.
(function prelude(host, grants) {
  "use strict";
  const { parse, stringify } = JSON;
  const { defineProperty, freeze, getPrototypeOf } = Object;
  const { apply } = Reflect;
  const text = String;
  const { toWellFormed: wellFormed, slice } = text.prototype;
  const ErrorOfRealm = Error;
  const TypeErrorOfRealm = TypeError;
  const plain = (value) => apply(wellFormed, text(value), []);

  // What is approved is what runs: code is not made from text. Functions keep their prototype, so `instanceof` holds.
  const constructors = [
    function () {},
    async function () {},
    function* () {},
    async function* () {},
  ];
  for (const sample of constructors) {
    const prototype = getPrototypeOf(sample);
    const refuse = function Function() {
      throw new TypeErrorOfRealm("a skill makes no code from text: write the function in a file of the skill");
    };
    defineProperty(refuse, "prototype", { value: prototype, writable: false });
    defineProperty(prototype, "constructor", { value: refuse, writable: false, configurable: false });
    if (sample === constructors[0]) {
      defineProperty(globalThis, "Function", { value: refuse, writable: true, configurable: true });
    }
  }
  for (const name of ["eval", "Atomics", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry", "performance"]) {
    delete globalThis[name];
  }
  // Whoever formats stacks is given the functions on them, those of this prelude as well.
  defineProperty(Error, "prepareStackTrace", { value: undefined, writable: false, configurable: false });
  if (!grants.random) delete Math.random;

  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof ErrorOfRealm) return `${value.name}: ${value.message}`;
    if (typeof value !== "object" || value === null) return text(value);
    try {
      return stringify(value) ?? text(value);
    } catch {
      return "[object]";
    }
  };
  // More than is kept need not be made: the host cuts, and says when nothing more is kept.
  const line = (values) => {
    let all = "";
    for (let i = 0; i < values.length && all.length <= grants.log; i += 1) {
      all += (i === 0 ? "" : " ") + shown(values[i]);
    }
    return plain(all.length > grants.log ? apply(slice, all, [0, grants.log + 1]) : all);
  };
  let keeps = true;
  const put = (level, before, values) => {
    if (keeps) keeps = host.log(level, before + line(values));
  };
  const say = (level) => (...values) => put(level, "", values);
  const console = {
    debug: say("debug"),
    trace: say("debug"),
    log: say("info"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    assert: (holds, ...values) => {
      if (!holds) put("error", "Assertion failed: ", values);
    },
  };
  defineProperty(globalThis, "console", { value: console, writable: true, configurable: true });

  const ungranted = () => {
    throw new ErrorOfRealm("reading files is not granted to this skill: declare what it reads in its metadata");
  };
  // One question at a time; the answer is there when the call returns, and may be awaited all the same.
  const ask = (question) => (what) => question(plain(what));
  const gatewright = freeze({
    read: grants.reads ? ask(host.read) : ungranted,
    glob: grants.reads ? ask(host.glob) : ungranted,
  });
  defineProperty(globalThis, "gatewright", { value: gatewright });

  return async (called, input) => stringify(await called(parse(input)));
})
