"""Compile every C file and every Cython module with each compiler that is installed.

    compilers.py [--loops] [COMPILER...]

The commands are those of the build itself, with the compiler replaced, warnings as errors, and the
result compiled but not linked; for ARM, the headers of this machine's Python serve. A compiler that
is not installed is skipped, and named. ``--loops`` leaves the Cython modules out, which is quick.
Then the loops whose results are the same to the bit on every machine run: for this processor, for
one without wide vectors, and for ARM where qemu-aarch64 is installed.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARM = "aarch64-linux-gnu-gcc"
COMPILERS = [f"gcc-{n}" for n in range(10, 16)] + [f"clang-{n}" for n in range(14, 22)] + [ARM]
# Clang does not know all of GCC's warnings; ARM's GCC says how it passes vectors.
EXTRA = ["-Werror", "-Wno-unknown-warning-option", "-Wno-psabi"]
GCC_ONLY = "-Wno-maybe-uninitialized"


def commands(build: Path, loops: bool) -> list[list[str]]:
    """Return the command of each C file; the Cython modules are translated to C first."""
    setup = ["meson", "setup", "--reconfigure", str(build), str(ROOT), "-Dbuildtype=release"]
    subprocess.run(setup, check=True, stdout=subprocess.DEVNULL)
    entries = json.loads((build / "compile_commands.json").read_text("utf-8"))
    generated = [e["file"] for e in entries if not e["file"].startswith("..")]
    if not loops:
        subprocess.run(["ninja", "-C", str(build), *generated], check=True)
    kept = [e for e in entries if not (loops and e["file"] in generated)]
    return [shlex.split(e["command"]) for e in kept]


def adapted(command: Sequence[str], compiler: str) -> list[str]:
    """Return a compile command for another compiler, which writes nothing."""
    start = next(i for i, word in enumerate(command) if word.startswith("-"))
    words = [word for word in command[start:] if word not in ("-MD", "-Wl,--no-undefined")]
    for option in ("-MQ", "-MF", "-o"):
        place = words.index(option)
        del words[place : place + 2]
    if "clang" in compiler:
        words = [word for word in words if word != GCC_ONLY]
    return [*shlex.split(compiler), *words, *EXTRA, "-o", os.devnull]


def failures(compiler: str, todo: list[list[str]], build: Path) -> list[str]:
    """Return what a compiler says about the files that it refuses."""

    def compile_one(command: list[str]) -> str:
        done = subprocess.run(
            adapted(command, compiler), cwd=build, capture_output=True, text=True, check=False
        )
        return f"{command[-1]}\n{done.stderr}" if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [said for said in pool.map(compile_one, todo) if said]


def same_bits(folder: Path) -> bool:
    """Run the loops of tools/same_bits.c as each processor would, and compare what they print."""
    package = ROOT / "src" / "noregret"
    sources = [ROOT / "tools" / "same_bits.c", package / "base" / "compiled" / "cpu.c"]
    sources += [package / "linear" / "engine" / name for name in ("row_loops.c", "udu_factors.c")]
    sources += [package / "proof" / "record" / "blake2b.c"]
    headers = [f"-I{source.parent}" for source in sources]
    flags = ["-std=c11", "-O3", "-ffp-contract=off", "-Wno-psabi", *headers, *map(str, sources)]

    def printed(compiler: str, runner: Sequence[str], level: str) -> str:
        program = str(folder / "same_bits")
        subprocess.run([compiler, *flags, "-static", "-o", program, "-lm"], check=True)
        level_set = os.environ | {"NOREGRET_CPU": level}
        return subprocess.check_output([*runner, program], env=level_set, text=True)

    native = "cc"
    results = {level: printed(native, [], level) for level in ("baseline", "avx2", "avx512")}
    if shutil.which(ARM) and shutil.which("qemu-aarch64"):
        results["ARM"] = printed(ARM, ["qemu-aarch64"], "baseline")
    else:
        print(f"ARM: not run, {ARM} or qemu-aarch64 is not installed")
    same = len(set(results.values())) == 1
    print(f"{', '.join(results)}: {'the same to the bit' if same else results}")
    return same


def main() -> int:
    """Compile with all of them, and return 1 if any refused a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("compilers", nargs="*", default=COMPILERS)
    given = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        todo = commands(folder, given.loops)
        for compiler in given.compilers:
            if shutil.which(shlex.split(compiler)[0]) is None:
                print(f"{compiler}: skipped, not installed")
                continue
            found = failures(compiler, todo, folder)
            print(f"{compiler}: {len(todo)} files, {len(found)} refused", flush=True)
            print("".join(found), end="")
            failed = failed or bool(found)
        failed = not same_bits(folder) or failed
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
