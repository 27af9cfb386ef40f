"""The documentation: it builds strictly and offline, is complete, and what it shows is true."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import noregret
from noregret import data
from noregret.app.cli.app import run
from noregret.app.cli.family_words import path_of
from noregret.app.cli.parser import command_names
from noregret.base.algorithm import Named
from noregret.base.registry import all_algorithms
from tests.thorough import THOROUGH, sized

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = sorted(DOCS.glob("*.md"))
# A block of Python or of commands, and what it prints where a block of text follows directly.
BLOCK = re.compile(
    r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


def extension(name: str) -> ModuleType:
    """Import an extension of the site as Sphinx does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "_ext")
        return importlib.import_module(name)


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as ``make docs`` does: every warning is an error.

    Half of the time goes into the theme's navigation: a plain theme does without.
    """
    place = tmp_path_factory.mktemp("site")
    theme = sized(["-t", "plain"], full=[])
    strictly = ["-W", "--keep-going", "-n", "-q", "-b", "html", "-d", str(place / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *strictly, *theme, str(DOCS), str(place / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return place / "html"


class Page(HTMLParser):
    """What a page loads, and the words that a reader sees outside code and formulas."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.words: list[str] = []
        self.silent = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in {"script", "style", "pre", "code", "math"}
        names = {"src", "srcset", "poster", "data"} | (
            {"href"} if tag in {"link", "use"} else set()
        )
        self.loads += [value for name, value in attrs if name in names and value]

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in {"script", "style", "pre", "code", "math"}

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.words.append(data)


def steady(text: str | None) -> str:
    """Leave out what rounding and time make different on every machine, and blanks at line ends."""
    text = re.sub(r"rounding of \S+ at most *", "", text or "")
    text = re.sub(r"; (?:processed in )?[\d.,]+ \S+, [\d.,]+(?:\s+rows/s|× real time).*", "", text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def printed_by(commands: str, place: Path) -> str:
    """Run commands as a reader would who has the package, and return what they print.

    By default noregret runs in this process, which has it imported; what it prints goes where the
    line says.
    """
    lines = commands.replace("\\\n", " ").replace("|\n", "| ").splitlines()
    if THOROUGH or not any(line.startswith("noregret ") for line in lines):
        return printed_by_shell(commands, place)
    printed = ""
    for line in lines:
        if line.startswith("noregret "):
            ours, _, others = line.partition(" | ")
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(place)
                patch.setenv("COLUMNS", "80")
                text = io.StringIO()
                with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
                    run(shlex.split(ours)[1:])
            ended = text.getvalue()
            printed += printed_by_shell(others, place, ended) if others else ended
        else:
            printed += printed_by_shell(line, place)
    return printed


def printed_by_shell(commands: str, place: Path, text: str | None = None) -> str:
    """Run commands in a shell, with a text as standard input."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", commands],
        cwd=place,
        env={**os.environ, "PATH": path, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    # A slow machine has lines of progress among it.
    return re.sub(r"(?m)^noregret: .* s so far\n", "", done.stdout)


@cache
def all_flights() -> list[tuple[dict[str, float | str], float]]:
    """Return the flights, which many pages use, parsed once."""
    return list(data.flights())


def flights() -> Iterator[tuple[dict[str, float | str], float]]:
    """Yield the flights as the package does, each time anew."""
    return ((dict(x), y) for x, y in all_flights())


def page_of(site: Path, kind: type[Named]) -> Path:
    """Return where the page of a learner is."""
    folder = site / "learners" if kind.family == "learners" else site / "learners" / kind.family
    return folder / f"{kind.name}.html"


# The site. One test asks all of it, so that one process builds it.


def every_learner_has_a_page_with_its_formulas(site: Path) -> None:
    to_mathml = extension("mathml").to_mathml
    for learner in all_algorithms():
        page = page_of(site, learner).read_text(encoding="utf-8")
        assert f'id="{path_of(learner)}"' in page
        for theorem in learner.theorems:
            assert to_mathml(theorem.formula, block=True) in page
            assert f'/theorems/{theorem.name}.html"' in page


def every_theorem_has_a_page_with_its_formula(site: Path) -> None:
    to_mathml = extension("mathml").to_mathml
    for name, (theorem, learner) in noregret.all_theorems().items():
        page = (site / "theorems" / f"{name}.html").read_text(encoding="utf-8")
        formula = to_mathml(theorem.formula, block=True)
        assert formula.startswith("<math"), name
        assert formula in page, name
        if learner is not None:
            place = page_of(site, learner).relative_to(site).as_posix()
            assert f'href="../{place}"' in page, name


def indexes_link_to_every_learner_and_theorem(site: Path) -> None:
    index = (site / "learners" / "index.html").read_text(encoding="utf-8")
    for learner in all_algorithms():
        place = page_of(site, learner).relative_to(site / "learners").as_posix()
        assert f'href="{place}"' in index
    index = (site / "theorems" / "index.html").read_text(encoding="utf-8")
    for name in noregret.all_theorems():
        assert f'href="{name}.html"' in index


def no_page_loads_from_a_network_or_leaves_latex_to_decode(site: Path) -> None:
    for path in sorted(site.rglob("*.html")):
        page = Page(path)
        elsewhere = [load for load in page.loads if re.match(r"(\w+:)?//", load)]
        assert not elsewhere, path
        assert not re.search(r"\\[a-zA-Z]+|\$|\^\{", " ".join(page.words)), path
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", text), sheet


def every_public_name_is_in_the_reference(site: Path) -> None:
    reference = [*site.glob("api*.html"), *(site / "learners").rglob("*.html")]
    text = "".join(path.read_text(encoding="utf-8") for path in reference)
    for name in noregret.__all__:
        assert name == "__version__" or f'id="noregret.{name}"' in text, name


def every_command_is_there_with_the_options_that_its_help_shows(site: Path) -> None:
    page = (site / "commands.html").read_text(encoding="utf-8")
    article = page[page.index("<h1>") :]
    overview = article[: article.index("<h2>")]
    for name in command_names():
        assert f'href="#{name}"' in overview
        shown = printed_by(f"noregret {name} --help", site)
        options = re.findall(r"(?m)^  (?:-\w[^,]*, )?--([a-z][\w-]*)", shown)
        assert options
        for option in set(options) - {"help"}:
            assert f'id="cmdoption-noregret-{name}-{option}"' in page, (name, option)


@pytest.mark.long
def test_the_site_is_whole_and_needs_nothing_else(site: Path) -> None:
    every_learner_has_a_page_with_its_formulas(site)
    every_theorem_has_a_page_with_its_formula(site)
    indexes_link_to_every_learner_and_theorem(site)
    no_page_loads_from_a_network_or_leaves_latex_to_decode(site)
    every_public_name_is_in_the_reference(site)
    every_command_is_there_with_the_options_that_its_help_shows(site)


def test_the_guide_tells_what_every_learner_is_for() -> None:
    page = (DOCS / "choosing.md").read_text(encoding="utf-8")
    for name in noregret.all_learners():
        source = f"../src/noregret/learners/{name.replace('-', '_')}.py"
        assert f"[`{name}`]({source})" in page, name


@pytest.mark.parametrize(
    "page", [*WRITTEN, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.stem
)
def test_every_link_leads_to_a_file_of_the_repository(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_losses_and_measurements_are_all_explained() -> None:
    page = (DOCS / "principle.md").read_text(encoding="utf-8")
    learner = noregret.make("gradient-descent")
    for name in (*noregret.LOSSES, *learner.measured):
        assert f"* - `{name}`\n" in page, name


def test_every_name_in_a_model_file_is_explained() -> None:
    page = (DOCS / "model-files.md").read_text(encoding="utf-8")
    forms: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in noregret.all_learners()]
    forms += [("follow-the-leader", {"domain": "box"}), ("perceptron", {"averaged": True})]
    forms += [("winnow", {"form": "winnow1"}), ("ftrl", {"regulariser": "entropic"})]
    forms += [("adagrad", {"form": "norm"}), ("coin-betting", {"form": "norm"})]
    forms += [(name, {"form": "diagonal"}) for name in ("arow", "online-newton")]
    for name, params in forms:
        arrays, numbers, _ = noregret.make(name, **params).get_state()
        for key in (*arrays, *numbers):
            known = re.sub(r"^(most|limit|first_over)_.*", r"\1_…", key)
            known = re.sub(r"^(\w+)\..*", r"\1.…", known)  # of a part that auto is made of
            assert f"`{known}`" in page, key


# What its pages show.


@pytest.mark.parametrize("page", WRITTEN, ids=lambda path: path.stem)
def test_what_is_on_a_page_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All Python; of commands, those whose output is shown."""
    monkeypatch.chdir(tmp_path)
    all_flights()
    monkeypatch.setattr(data, "flights", flights)
    names: dict[str, Any] = {"__name__": "__main__"}
    for language, code, shown in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "sh":
            assert not shown or steady(printed_by(code, tmp_path)) == steady(shown)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), names)
        assert steady(printed.getvalue()) == steady(shown)


@pytest.mark.parametrize("kind", all_algorithms(), ids=path_of)
def test_the_example_on_a_learners_page_runs_as_it_stands(kind: type[Named]) -> None:
    name = kind.name
    text = extension("learner_pages").learner_page(name, kind)
    blocks = BLOCK.findall(text + "\n")
    code = "\n".join(block for language, block, _ in blocks if language == "python")
    test = doctest.DocTestParser().get_doctest(code, {}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


# How its pages are made.


def test_a_new_learner_gets_its_pages_without_an_edit() -> None:
    code = '''
"""A learner that stands still.

    w ← w

Promise. None but that.
"""
import sys
import noregret
from noregret.proof.theorems.assumptions import Structural
from noregret.linear.engine.additive import Additive

@noregret.register
class StandStill(noregret.Learner):
    """It does not move."""
    name = "stand-still"
    theorems = (
        noregret.Theorem(
            "still", "loss", r"L_A \\le L_0", "loss <= L(0)", (Structural("$T > 0$"),),
            bound=lambda evidence: evidence.loss,
        ),
    )

    def __init__(self) -> None:
        super().__init__(Additive())

sys.path.insert(0, sys.argv[1])
import learner_pages
pages = learner_pages.all_pages()
assert "w ← w" in pages["learners/stand-still.md"]
assert r"L_A \\le L_0" in pages["theorems/still.md"]
assert "stand-still" in pages["learners/index.md"] and "still" in pages["theorems/index.md"]
'''
    subprocess.run([sys.executable, "-c", code, str(DOCS / "_ext")], check=True)


def test_a_parameter_without_a_description_stops_the_build() -> None:
    class Silent(noregret.Learner):
        """It says nothing of its rate."""

        def __init__(self, rate: float = 1.0) -> None: ...

    with pytest.raises(Exception, match=r"Silent: parameters and their docstring differ in: rate"):
        extension("learner_pages").reference(Silent)


def test_lessons_are_notebooks_too() -> None:
    made = extension("course")
    for page in sorted(DOCS.glob("course-*.md")):
        text = page.read_text(encoding="utf-8")
        cells = made.notebook(text)["cells"]
        assert made.ROLE in text
        code = [each for each in cells if each["cell_type"] == "code"]
        blocks = [block for block in BLOCK.findall(text) if block[0] == "python"]
        assert ["".join(each["source"]) for each in code] == [b.strip() for _, b, _ in blocks]
        for each, (_, _, shown) in zip(code, blocks, strict=True):
            assert "".join("".join(out["text"]) for out in each["outputs"]) == shown
        assert not any("```" in line for each in cells for line in each["source"])
        solutions = "".join(cells[-1]["source"])
        assert re.search(
            r"<summary>Solutions</summary>\n\n1\. .*\n</details>$", solutions, re.DOTALL
        )
        prose = [each for each in cells if each["cell_type"] == "markdown"]
        told = "".join("".join(each["source"]) for each in prose)
        pictures = re.findall(r"!\[[^\]]+\]\(attachment:([^)]+)\)", told)
        assert pictures == re.findall(r"\(_static/([^)]+\.svg)\)", text)
        assert sorted(pictures) == sorted(n for each in prose for n in each.get("attachments", {}))
        assert ".md" not in told


def test_lessons_run_when_the_site_is_built_and_what_they_print_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = extension("course")
    warned = list[str]()
    monkeypatch.setattr(
        made.logger, "warning", lambda words, *values: warned.append(words % values)
    )
    page = f"""{made.ROLE}
```python
x = 20
```
```python
import pathlib
pathlib.Path({str(tmp_path / "ran")!r}).open("a").write("once ")
print(x + 1)
```

```text
22
```
"""
    for _ in range(2):
        assert made.executed("page.md", page, tmp_path / "kept") == ["", "21\n"]
        assert warned.pop() == r"page.md: the block 'import pathlib' prints '21\n', not '22\n'"
    assert (tmp_path / "ran").read_text(encoding="utf-8") == "once "
    cells = made.notebook(page, ["", "21\n"])["cells"]
    assert [each.get("outputs") for each in cells][-1][0]["text"] == ["21\n"]
    assert made.executed("page.md", page.replace("x = 20", "x = 21"), tmp_path / "kept")
    made.executed("page.md", page.replace("x = 20", "1 / 0"), tmp_path / "kept")
    assert warned[-1] == "page.md: its code stops with ZeroDivisionError: division by zero"


def test_lines_do_not_break_within_options_or_before_a_full_stop() -> None:
    nodes = pytest.importorskip("docutils.nodes", reason="the site's packages are missing")
    made = extension("line_breaks")
    tokens = made.ShellLexer().get_tokens("noregret run a.csv --target y  # a-b")
    assert [value for kind, value in tokens if kind is made.WHOLE] == ["--target"]
    long = "a" * (made.MAX_WORD + 1)
    link = nodes.reference("", "", nodes.literal("", "mix"))
    parts = ["So (", nodes.literal("", "--drop"), ".) ", link, ", ", nodes.literal("", long), "."]
    text = nodes.paragraph("", "", *(nodes.Text(p) if isinstance(p, str) else p for p in parts))
    page = extension("docutils.utils").new_document("page")
    page += text
    made.keep_all(None, page, "page")
    assert text.astext() == f"So (--drop.) mix, {long}."
    kept = [each.astext() for each in text.findall(nodes.inline) if "kept" in each["classes"]]
    assert kept == ["(--drop.)", "mix,"]


def test_the_gallery_shows_all_its_pages_with_their_pictures() -> None:
    overview = (DOCS / "gallery.md").read_text(encoding="utf-8")
    cards = re.findall(r"^:link: (gallery-\w+)$", overview, re.MULTILINE)
    assert sorted(cards) == sorted(page.stem for page in DOCS.glob("gallery-*.md"))
    for name in cards:
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert re.search(rf"!\[[^\]]{{20,}}\]\(_static/{name}\.svg\)", page), name
        assert f":img-top: _static/{name}.svg\n:img-alt: " in overview, name
        assert f"<{name}>\n" in overview, name  # its menu
        assert "## The certificate\n" in page or "print(certificate)" in page, name
        assert "## What to learn from it\n" in page, name


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ('<h1>A</h1><a href="b.html">B</a><label for="c">C</label><input id="c">', []),
        ('<h1>A</h1><a href="b.html"><img src="b.svg" alt="B"></a>', []),
        ("<h1>A</h1><label>C <select></select></label>", []),
        ('<h1>A</h1><a href="b.html"> <i></i></a>', ["the link b.html has no name"]),
        ('<h1>A</h1><img src="b.svg">', ["the image b.svg has no alternative text"]),
        ('<h1>A</h1><input id="c">', ["the input c has no label"]),
        ("<h1>A</h1><h3>B</h3>", ["a heading of level 3 follows one of level 1"]),
        ("<h1>A</h1><h1>B</h1>", ["2 headings of the first level, not one"]),
    ],
)
def test_a_page_that_some_cannot_read_is_reported(body: str, wrong: list[str]) -> None:
    checks = extension("site_checks")
    assert checks.inaccessible(checks.Page(f'<html lang="en">{body}</html>')) == wrong
    assert "does not state its language" in checks.inaccessible(checks.Page(body))


def contrast(one: str, other: str) -> float:
    """Return the ratio of contrast of two colours ``#rrggbb``, as the W3C defines it."""

    def light(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    lights = sorted((light(one), light(other)))
    return lights[1] / lights[0]


def test_links_and_code_can_be_read_on_light_and_on_dark_pages() -> None:
    styles = pytest.importorskip("pygments.styles", reason="the site's packages are missing")
    settings = (DOCS / "conf.py").read_text(encoding="utf-8")
    light, dark = re.findall(r'"color-brand-content": "(#\w{6})"', settings)
    (code,) = re.findall(r'"color-code-background": "(#\w{6})"', settings)
    (name,) = re.findall(r'pygments_dark_style = "(.*)"', settings)
    pairs = [(light, "#ffffff"), (light, "#f8f9fb"), (dark, "#131416"), (dark, "#1a1c1e")]
    colours = {str(kind): each["color"] for kind, each in styles.get_style_by_name(name)}
    del colours["Token.Text.Whitespace"]  # nothing to see
    pairs += [(f"#{colour}", code) for colour in colours.values() if colour]
    poor = {pair for pair in pairs if contrast(*pair) < 4.5}
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert not poor


def test_every_error_is_on_the_page_of_errors() -> None:
    page = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    parts = " ".join(re.findall(r"{error-messages} (.*)", page)).split()
    found = extension("error_messages")
    source = Path(noregret.__file__).parent
    for each in sorted(source.iterdir()):
        if each.is_dir() and each.name != "app" and found.messages(each.name):
            assert each.name in parts
    told = {message.what: message for part in parts for message in found.messages(part)}
    assert "damaged: its contents do not match its digest" in told
    assert told["there is no journal"].cures == ("give a learner to begin one",)


def test_figures_of_the_benchmarks_are_those_measured_last() -> None:
    made = extension("measured")
    for page in WRITTEN:
        for row in re.findall(r"{measured}`([^`]+)`", page.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\d.]+× faster", made.ratio(row) or ""), row
    assert made.ratio("no such row") is None


@pytest.mark.parametrize(
    ("tex", "braced"),
    [
        (r"\tfrac12 + \tfrac1c", r"\tfrac{1}{2} + \tfrac{1}{c}"),
        (r"\frac\eta2", r"\frac{\eta}{2}"),
        (r"x^10", r"x^{1}0"),
        (r"\frac{a^10}{\sqrt T}", r"\frac{a^{1}0}{\sqrt{T}}"),
        (r"\sqrt[3]{x_t}", r"\sqrt[3]{x_{t}}"),
    ],
)
def test_arguments_without_braces_are_read_as_tex_reads_them(tex: str, braced: str) -> None:
    assert extension("mathml").with_braces(tex) == braced


@pytest.mark.parametrize("tex", [r"\hat{y}_t", r"\hat y_{t+1}", r"\bar w_t"])
def test_the_subscript_of_a_letter_with_an_accent_is_at_its_right(tex: str) -> None:
    markup = re.sub(r"\s", "", extension("mathml").to_mathml(tex))
    assert re.search(r'<msub><moveraccent="true"><mi>[yw]</mi><mo.*</mover><m', markup)
    assert "munderover" not in markup


@pytest.mark.parametrize("tex", [r"\unheardof", r"\frac{1", r"x^", r"\operatorname*{argmin}"])
def test_a_formula_that_is_not_understood_is_refused(tex: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        extension("mathml").to_mathml(tex)
