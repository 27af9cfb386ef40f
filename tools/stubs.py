"""Write the type stubs of compiled modules, from their Cython sources.

    stubs.py [--depfile FILE OUTPUT=SOURCE...]

Alone, write each stub next to its source, for mypy and editors; git ignores them. With outputs,
write those for the build to install, and in a checkout the others too.

A stub has every class, with its public attributes and its constructor, and the functions and
constants that are annotated. A parameter without an annotation has the type of its C declaration
or of its default; ``# type: …`` behind an attribute gives its type. The build
tells Cython to ignore annotations: they describe and do not compile.
"""

import argparse
import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
ALIASES = {
    "Floats": "NDArray[np.float64]",
    "Singles": "NDArray[np.float32]",
    "Counts": "NDArray[np.int64]",
    "Indices": "NDArray[np.int32]",
    "Digests": "NDArray[np.uint64]",
    "T": 'TypeVar("T")',
}
HOMES = {
    "collections.abc": "Callable Iterable Iterator Mapping Sequence",
    "typing": "Any Literal TypeVar",
    "typing_extensions": "Buffer",
    "numpy.typing": "NDArray",
    "noregret.base.compiled.losses": "Loss",
}
IMPORTS = {name: f"from {home} import {name}" for home in HOMES for name in HOMES[home].split()}
IMPORTS["np"] = "import numpy as np"
IN_PYTHON = dict.fromkeys(("int", "long long", "Py_ssize_t", "ptrdiff_t"), "int")
IN_PYTHON |= dict.fromkeys(("int64_t", "int32_t", "uint32_t", "uint64_t"), "int")
IN_PYTHON |= {"double": "float", "float": "float", "bint": "bool", "void": "None", "object": "Any"}
IN_PYTHON |= {"list": "list[Any]", "tuple": "tuple[Any, ...]", "dict": "dict[Any, Any]"}
IN_PYTHON |= {"cnp.ndarray": "NDArray[Any]", "double[4]": "list[float]", "": "Any"}
IN_ARRAYS = {"double": "Floats", "float": "Singles", "int64_t": "Counts", "int32_t": "Indices"}
IN_ARRAYS |= {"uint64_t": "Digests"}

FUNCTION = re.compile(
    r"^(?P<decorators>(?: *@(?:property|classmethod|staticmethod)\n)?)"
    r"(?P<indent> *)(?:def|cpdef(?P<c>(?: \w+)*)) (?P<name>\w+)\((?P<parameters>.*?)\)"
    r"(?: -> (?P<returns>[^\n]+?)| except\S* \S+| noexcept)?:(?:  #.*)?\n",
    re.DOTALL | re.MULTILINE,
)
CLASS = re.compile(r"^(?:cdef )?class (\w+)(?:\((\w+)\))?:.*\n((?:(?: .*)?\n)*)", re.MULTILINE)
ATTRIBUTES = re.compile(
    r"^    cdef (?:readonly|public) ((?:\w+ (?=\w+ \w))?[\w.]+(?:\[.*?\])?) (\w(?:[\w, ]*\w)?)"
    r" *(?:# type: (.*))?",
    re.MULTILINE,
)
CONSTANT = re.compile(r"^(\w+): (.+?) = |^    (\w+) = .*  # type: (.*)", re.MULTILINE)
INCLUDE = re.compile(r'^include "(.+)"$', re.MULTILINE)
IMPORT = re.compile(r"^from (noregret[\w.]*) c?import (?:\(([^)]*)\)|(.*))", re.MULTILINE)


def parts_of(text: str) -> Iterator[str]:
    """Split at the commas that are not within brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            yield " ".join(text[start:place].split())
            start = place + 1
    if text[start:].strip():
        yield " ".join(text[start:].split())


def type_of(declared: str, default: str = "") -> str:
    """Return the Python type of a C type, or where there is none of a default value."""
    declared = declared.removeprefix("const ")
    view = re.fullmatch(r"(\w+)\[[:, 1]+\]", declared)
    if view:
        declared = IN_ARRAYS.get(view[1], f"NDArray[np.{view[1].removesuffix('_t')}]")
    elif declared == "" and default not in ("", "None"):
        return type(ast.literal_eval(default)).__name__
    found = IN_PYTHON.get(declared, declared)
    return f"{found} | None" if default == "None" and found != "Any" else found


class Stub:
    """The stub of one module."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.texts = [INCLUDE.sub(self.included, source.read_text("utf-8"))]
        self.needed: set[str] = set()
        header = source.with_suffix(".pxd")
        if header.exists():
            self.texts.append(header.read_text("utf-8"))
        self.classes = {name: "" for text in self.texts for name, _, _ in CLASS.findall(text)}
        self.homes = {
            name: f"from {home} import {name}"
            for text in self.texts
            for home, many, few in IMPORT.findall(text)
            for name in re.findall(r"\w+", many or few)
        }

    def included(self, found: re.Match[str]) -> str:
        """Return the text of a file that the source includes."""
        return self.source.with_name(found[1]).read_text("utf-8")

    def annotated(self, text: str) -> str:
        """Return a type, and note the names in it."""
        self.needed.update(re.findall(r"[A-Za-z_][\w.]*", re.sub(r'"[^"]*"', "", text)))
        return text

    def parameter(self, text: str) -> str:
        """Return a parameter as a stub has it."""
        match = re.fullmatch(r"(.*?)(\**\w+)(?: not None)?(?:: (.*?))?(?: ?= ?(.*))?", text)
        assert match, text
        declared, name, annotation, default = (found or "" for found in match.groups())
        if name in ("self", "cls"):
            return name
        type_ = self.annotated(annotation or type_of(declared.strip(), default))
        try:
            ast.literal_eval(default or "None")
        except ValueError:
            default = "..."
        return f"{name}: {type_}" + (f" = {default}" if default else "")

    def function(self, found: re.Match[str]) -> str:
        """Return a function, or nothing if it is not annotated."""
        name, returns = found["name"], found["returns"]
        if name in ("__init__", "__cinit__"):
            name, returns = "__init__", "None"
        elif found["c"] is not None:
            returns = type_of(found["c"].strip())
        if returns is None:
            return ""
        parameters = ", ".join(map(self.parameter, parts_of(found["parameters"])))
        indent, decorators = found["indent"], found["decorators"]
        return f"{decorators}{indent}def {name}({parameters}) -> {self.annotated(returns)}: ...\n"

    def members(self, name: str) -> Iterator[str]:
        """Yield what the stub of a class has."""
        classes = (each for text in self.texts for each in CLASS.findall(text))
        bodies = [body for own, _, body in classes if own == name]
        for body in bodies:
            for declared, names, given in ATTRIBUTES.findall(body):
                type_ = self.annotated(given or type_of(declared))
                yield from (f"    {each.strip()}: {type_}\n" for each in names.split(","))
        for *_, constant, given in CONSTANT.findall(bodies[0]):
            yield f"    {constant}: {self.annotated(given)}\n"
        functions = list(FUNCTION.finditer(bodies[0]))
        names = [function["name"] for function in functions]
        for function in functions:
            open_ended = re.search(r", \*args", function["parameters"])
            if function["name"] != "__cinit__" or not ("__init__" in names or open_ended):
                yield self.function(function)

    def text(self) -> str:
        """Return the stub."""
        body = "".join(
            f"{name}: {self.annotated(type_)}\n"
            for name, type_, *_ in CONSTANT.findall(self.texts[0])
            if name
        )
        for name, base, _ in CLASS.findall(self.texts[0]):
            inside = "".join(self.members(name)) or "    ...\n"
            body += f"class {name}({self.annotated(base)}):\n{inside}".replace("()", "", 1)
        functions = (each for each in FUNCTION.finditer(self.texts[0]) if not each["indent"])
        body += "".join(map(self.function, functions))
        used = (name for name in ALIASES if name in self.needed)
        aliases = [f"{name} = {self.annotated(ALIASES[name])}" for name in used]
        return "\n".join([*sorted(set(self.imports())), *aliases, body])

    def imports(self) -> Iterator[str]:
        """Yield an import for every name that is neither built in nor defined here."""
        for name in self.needed - set(self.classes) - set(ALIASES) - set(dir(builtins)):
            root = name.partition(".")[0]
            if root == "noregret":
                yield f"import {name.rpartition('.')[0]}"
            elif root in IMPORTS:
                yield IMPORTS[root]
            elif name in self.homes:
                yield self.homes[name]
            else:
                raise SystemExit(f"{self.source}: tools/stubs.py does not know the type {name}")


def write(file: Path, text: str) -> None:
    """Write a file unless it says the same already."""
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")


def main() -> None:
    """Write the stubs that the command line asks for."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--depfile", type=Path)
    asked.add_argument("pairs", nargs="*", metavar="OUTPUT=SOURCE")
    given = asked.parse_args()
    outputs = {Path(p.partition("=")[0]): SOURCES / p.partition("=")[2] for p in given.pairs}
    for output, source in outputs.items():
        write(output, Stub(source).text())
    if not outputs or (ROOT / ".git").exists():
        for source in SOURCES.rglob("*.pyx"):
            write(source.with_suffix(".pyi"), Stub(source).text())
    if given.depfile:
        folders = {source.parent for source in outputs.values()}
        needed = " ".join(str(file) for folder in sorted(folders) for file in folder.glob("*.px?"))
        given.depfile.write_text(f"{next(iter(outputs))}: {needed}\n", "utf-8")


if __name__ == "__main__":
    main()
