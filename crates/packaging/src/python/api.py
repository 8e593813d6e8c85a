"""Says what the modules of a wheel define, as JSON. Nothing of the wheel is run: its files are parsed."""
import ast
import json
import sys
import zipfile

MAX_FILES = 20000
MAX_BYTES = 4 << 20


def text(node):
    try:
        return None if node is None else ast.unparse(node)
    except Exception:
        return "?"


def arguments(args):
    found = []
    plain = [(a, "positional") for a in args.posonlyargs] + [(a, "either") for a in args.args]
    required = len(plain) - len(args.defaults)
    for i, (a, kind) in enumerate(plain):
        found.append({"name": a.arg, "kind": kind, "default": i >= required})
    if args.vararg:
        found.append({"name": args.vararg.arg, "kind": "rest", "default": True})
    for a, default in zip(args.kwonlyargs, args.kw_defaults):
        found.append({"name": a.arg, "kind": "keyword", "default": default is not None})
    if args.kwarg:
        found.append({"name": args.kwarg.arg, "kind": "keywords", "default": True})
    return found


def decorators(node):
    return [text(d) or "" for d in node.decorator_list]


def function(node):
    return {
        "what": "function",
        "arguments": arguments(node.args),
        "async": isinstance(node, ast.AsyncFunctionDef),
        "decorators": decorators(node),
    }


def targets(node):
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, (ast.Tuple, ast.List)):
        return [name for part in node.elts for name in targets(part)]
    if isinstance(node, ast.Starred):
        return targets(node.value)
    return []


def bodies(node):
    """The statements that may run where this one stands, in `if`, `try`, `with` and loops."""
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
    for handler in getattr(node, "handlers", []):
        yield handler.body


class Reader:
    def __init__(self, module, is_package):
        self.module, self.is_package = module, is_package
        self.names, self.stars, self.all, self.dynamic = {}, [], None, False

    def base(self, level, name):
        if not level:
            return name or ""
        parts = self.module.split(".")
        keep = len(parts) - level + (1 if self.is_package else 0)
        return ".".join(parts[:max(keep, 0)] + ([name] if name else []))

    def put(self, names, name, value):
        old = names.get(name)
        # Of several definitions under conditions the first counts; overloads are one function.
        if old is None or (old["what"] == "import" and value["what"] != "import"):
            names[name] = value
        elif old["what"] == "function" == value["what"] and "overload" in " ".join(old["decorators"]):
            names[name] = dict(value, overloaded=True)

    def define_class(self, node):
        members = {}
        self.block(node.body, members, True)
        for inner in node.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner.args.args and inner.name == "__init__":
                own = inner.args.args[0].arg
                for statement in ast.walk(inner):
                    for target in getattr(statement, "targets", None) or [getattr(statement, "target", None)]:
                        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == own:
                            self.put(members, target.attr, {"what": "value"})
        return {"what": "class", "bases": [text(b) or "" for b in node.bases], "decorators": decorators(node), "members": members}

    def block(self, body, names, in_class=False):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.put(names, node.name, function(node))
            elif isinstance(node, ast.ClassDef):
                self.put(names, node.name, self.define_class(node))
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self.assign(node, names, in_class)
            elif type(node).__name__ == "TypeAlias":
                self.put(names, node.name.id, {"what": "value"})
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.split(".")[0]
                    source = alias.name if alias.asname else name
                    self.put(names, name, {"what": "import", "from": source, "named": alias.asname == alias.name})
            elif isinstance(node, ast.ImportFrom):
                base = self.base(node.level, node.module)
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(base)
                        continue
                    value = {"what": "import", "from": base + "." + alias.name, "named": alias.asname == alias.name}
                    value["relative"] = bool(node.level)
                    self.put(names, alias.asname or alias.name, value)
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                for name in targets(node.target):
                    self.put(names, name, {"what": "value"})
                for inner in bodies(node):
                    self.block(inner, names, in_class)
            elif isinstance(node, (ast.If, ast.Try, ast.With, ast.AsyncWith, ast.While)) or type(node).__name__ == "TryStar":
                for inner in bodies(node):
                    self.block(inner, names, in_class)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not in_class:
                call = node.value.func
                if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) and call.value.id == "__all__":
                    self.more(node.value.args[0] if node.value.args else None, call.attr == "append")

    def listed(self, node):
        if isinstance(node, (ast.List, ast.Tuple)):
            items = [e.value if isinstance(e, ast.Constant) and isinstance(e.value, str) else None for e in node.elts]
            return None if None in items else items
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.listed(node.left), self.listed(node.right)
            return None if left is None or right is None else left + right
        return None

    def more(self, node, one=False):
        if one and isinstance(node, ast.Constant) and isinstance(node.value, str):
            items = [node.value]
        else:
            items = self.listed(node)
        if items is None or one and len(items) != 1:
            self.dynamic = True
        else:
            self.all = (self.all or []) + items

    def assign(self, node, names, in_class):
        for target in getattr(node, "targets", None) or [node.target]:
            for name in targets(target):
                if name == "__all__" and not in_class:
                    if isinstance(node, ast.AugAssign):
                        self.more(node.value)
                    elif self.listed(node.value) is None:
                        self.dynamic = True
                    else:
                        self.all = self.listed(node.value)
                elif not isinstance(node, ast.AugAssign):
                    self.put(names, name, {"what": "value"})


def module_of(path):
    parts = path.rsplit(".", 1)[0].split("/")
    if parts[-1] == "__init__":
        return ".".join(parts[:-1]), True
    return ".".join(parts), False


def main(path):
    modules, native, unread = {}, [], {}
    with zipfile.ZipFile(path) as wheel:
        infos = {i.filename: i for i in wheel.infolist() if not i.is_dir()}
        if len(infos) > MAX_FILES:
            raise SystemExit("too many files")
        for name in sorted(infos):
            top = name.split("/")[0]
            if top.endswith((".dist-info", ".data")) or not all(p.isidentifier() for p in name.rsplit("/", 1)[0].split("/") if "/" in name):
                if not top.endswith("-stubs"):
                    continue
            if name.endswith((".so", ".pyd")):
                native.append(name.split(".")[0].replace("/", "."))
                continue
            # Types are what is promised: where there are stubs, they count.
            if not name.endswith((".py", ".pyi")) or name.endswith(".py") and name + "i" in infos:
                continue
            module, is_package = module_of(name)
            if infos[name].file_size > MAX_BYTES:
                unread[module] = "it is too large"
                continue
            try:
                tree = ast.parse(wheel.read(name))
                reader = Reader(module, is_package)
                reader.block(tree.body, reader.names)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                unread[module] = type(error).__name__
                continue
            modules[module] = {
                "package": is_package,
                "stub": name.endswith(".pyi"),
                "names": reader.names,
                "stars": reader.stars,
                "all": reader.all,
                "dynamic": reader.dynamic,
            }
    json.dump({"modules": modules, "native": native, "unread": unread}, sys.stdout, sort_keys=True)


main(sys.argv[1])
