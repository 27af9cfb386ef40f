"""Translate Cython modules to C, for the build.

    cythonize.py [--werror] [--bounds] --shared MODULE --work FOLDER --depfile FILE OUTPUT=SOURCE...

One process translates many modules, and only those whose sources have changed. Starting
Cython takes a second, most of the time per module: with one process per module, as Meson does it,
translating this package takes four times the processor time. Outputs that stay the same keep their
modification time, so that the compiler is called for the others alone.
"""

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler import Options
from Cython.Compiler.Errors import CompileError

SOURCES = Path(__file__).resolve().parent.parent / "src"


def main() -> None:
    """Translate what the command line names."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--werror", action="store_true")
    asked.add_argument("--bounds", action="store_true")
    asked.add_argument("--shared", required=True)
    asked.add_argument("--work", type=Path, required=True)
    asked.add_argument("--depfile", type=Path, required=True)
    asked.add_argument("pairs", nargs="+", metavar="OUTPUT=SOURCE")
    given = asked.parse_args()
    outputs = {Path(p.partition("=")[2]): Path(p.partition("=")[0]).resolve() for p in given.pairs}
    work, depfile = given.work.resolve(), given.depfile.resolve()

    os.chdir(SOURCES)  # Cython names what it writes after the path that it is given
    translate([str(source) for source in outputs], work, given)
    for source, output in outputs.items():
        replace(output, (work / source).with_suffix(".c").read_bytes())
    needed = " ".join(sorted(dependencies(map(str, outputs))))
    depfile.write_text(f"{next(iter(outputs.values()))}: {needed}\n", encoding="utf-8")


def translate(sources: list[str], work: Path, given: argparse.Namespace) -> None:
    """Write the C of every module below ``work``, where it is older than what it is made of."""
    Options.warning_errors = given.werror
    try:
        cythonize(
            sources,
            build_dir=str(work),
            quiet=True,
            shared_utility_qualified_name=given.shared,
            compiler_directives={
                "language_level": 3,
                "boundscheck": given.bounds,
                "initializedcheck": given.bounds,
                "wraparound": False,
                "cdivision": True,
                "annotation_typing": False,
                "emit_code_comments": False,
                "freethreading_compatible": False,
            },
        )
    except CompileError:  # it has said what is wrong
        sys.exit(1)


def dependencies(sources: Iterable[str]) -> set[str]:
    """Return the files that the modules are made of, with all that they cimport and include."""
    tree = create_dependency_tree(quiet=True)
    found = {file for source in sources for file in tree.all_dependencies(source)}
    return {str(Path(file).resolve()) for file in found if Path(file).exists()}


def replace(file: Path, content: bytes) -> None:
    """Write a file unless it says the same already."""
    if not file.exists() or file.read_bytes() != content:
        file.write_bytes(content)


if __name__ == "__main__":
    main()
