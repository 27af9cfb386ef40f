"""The README is short; its Python and its commands run as printed; its figures are measured."""

import contextlib
import html
import io
import re
import runpy
from pathlib import Path

from tests.docs.test_docs import BLOCK, printed_by, steady

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
TOOLS = README.parent / "tools"
PEERS = re.compile(r"<!-- peers: [^>]* -->\n(.*?)<!-- end of peers -->", re.DOTALL)


def test_it_is_no_longer_than_150_lines() -> None:
    assert TEXT.count("\n") <= 150


def test_python_and_commands_print_what_stands_below_them() -> None:
    blocks = [block for block in BLOCK.findall(TEXT) if block[2]]
    assert [language for language, _, _ in blocks] == ["python", "sh"]
    for language, code, shown in blocks:
        if language == "sh":
            text = printed_by(code, README.parent)
        else:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, README.name, "exec"), {"__name__": "__main__"})
            text = out.getvalue()
        if shown.endswith("\n…\n"):  # the first lines only
            assert steady(text).startswith(steady(shown.removesuffix("…\n")))
        else:
            assert steady(text) == steady(shown)


def test_the_example_does_better_than_the_best_in_hindsight() -> None:
    auto, best, late = map(float, re.findall(r"RMSE ([\d.]+) minutes\n", TEXT))
    assert auto < late < best


def test_the_table_against_peers_has_measured_figures() -> None:
    found = PEERS.search(TEXT)
    assert found is not None
    assert found[1].strip() == runpy.run_path(str(TOOLS / "peers_table.py"))["peers"]()


def test_every_picture_and_page_is_there() -> None:
    for path in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (README.parent / path.partition("#")[0]).is_file(), path


def test_the_terminal_shows_what_the_commands_print() -> None:
    def words(picture: str) -> str:
        text = " ".join(re.findall(r"<text[^>]*>([^<]*)", picture))
        return re.sub(r"features; .*? target", "", " ".join(html.unescape(text).split()))

    script = runpy.run_path(str(TOOLS / "terminal_picture.py"))
    assert words(script["PICTURE"].read_text(encoding="utf-8")) == words(script["drawn"]())
