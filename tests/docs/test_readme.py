"""The README's Python and its commands run as printed."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.test_docs import printed_by, steady

README = Path(__file__).parents[2] / "README.md"


def test_the_example_runs_and_prints_what_stands_below_it() -> None:
    text = README.read_text(encoding="utf-8")
    code, printed = re.findall(r"```python\n(.*?)```.*?```text\n(.*?)```", text, re.DOTALL)[0]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert steady(done.stdout).split() == steady(printed).split()
    found = re.match(r"100 days, mean loss ([\d.]+)\n", done.stdout)
    assert found is not None
    # Guessing the mean every day would cost the variance of the outcomes.
    sold = [3 + 2 * (day % 7) / 7 + (0 if day % 3 else 1) + day % 5 / 5 for day in range(100)]
    mean = sum(sold) / len(sold)
    assert float(found[1]) < sum((y - mean) ** 2 for y in sold) / len(sold)


def test_further_examples_run_and_print_what_stands_below_them() -> None:
    text = README.read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(found) == text.count("```python")
    for code, shown in found[1:]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, README.name, "exec"), {"__name__": "__main__"})
        assert printed.getvalue() == shown


def test_the_commands_run_and_print_what_stands_below_them() -> None:
    text = README.read_text(encoding="utf-8")
    found = re.findall(r"```sh\n(noregret \w+ [^`]*)```\n\n```text\n(.*?)…\n```", text, re.S)
    assert [command.split()[1] for command, _ in found] == ["run", "mix"]
    for command, shown in found:
        assert steady(printed_by(command, README.parent)).startswith(steady(shown)), command


def test_what_it_says_of_verifying_can_be_followed_to_the_letter(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    save, again = re.findall(
        r"`(game\.certificate\(\)\.save[^`]*|noregret\.verify\([^`]*\))`", text
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{save}\nassert {again}"], cwd=tmp_path, check=False
    )
    assert done.returncode == 0
    (commands,) = re.findall(r"```sh\n(noregret run [^`]*noregret verify [^`]*)```", text)
    (tmp_path / "src").symlink_to(README.parent / "src")
    printed = printed_by(f"set -e\n{commands}", tmp_path)
    assert "CONFIRMED: all of it follows from these data." in printed
    assert "NOT CONFIRMED" not in printed


def test_every_picture_is_there() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / path).is_file(), path
