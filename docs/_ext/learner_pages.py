"""The pages of the learners and theorems, written from the registry whenever the site is built.

A learner's page is its module's docstring, its class's docstring and its theorems; there is no
other text to keep in step. A parameter without a description, or a description without a
parameter, stops the build.

Written pages link to the source file of a learner, which a repository browser can show:
``../src/noregret/learners/ftrl.py``, with ``#theorem-ftrl-free`` behind it for a theorem. On the
site such links lead to the generated pages.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docstrings import blocks, markdown, page_of, prose
from sphinx.errors import ExtensionError

import noregret
from noregret.adversaries.table import of_theorem
from noregret.app.cli.family_words import WORDS, path_of, words_of
from noregret.app.cli.learner_facts import entries, explain, sections
from noregret.base.registry import all_algorithms
from noregret.proof.theorems.theorem import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

    from noregret import Theorem
    from noregret.base.algorithm import Named

FOLDERS = ("learners", "theorems")
# Pages with more about a learner.
GUIDES = {
    "auto": "[Why no learning rate?](/auto.md) compares it with others, and says when to use those."
}
NOTATION = r"""## Notation

- $T$ rounds, counted from $t = 1$; $n$ features.
- $x_t$ is the example of round $t$, $y_t$ its outcome, $w_t$ the weights that predict it, before
  $y_t$ is seen.
- $L_A$ is the learner's cumulative loss, $L_u$ that of the fixed weights $u$. The regret is
  $L_A - \min_u L_u$.
- $n$ is also the number of experts, arms or assets; $L_i$ is the cumulative loss of the $i$-th.
- $M$ is the number of mistakes. A score of zero is a mistake.
- $\eta$ is the rate, $\|\cdot\|$ the Euclidean norm, $\Delta$ the simplex, $\ln$ the natural
  logarithm and $\mathrm{KL}(u\|v) = \sum_i u_i \ln(u_i/v_i)$ the relative entropy.
"""


# A learner's page.


def learner_page(name: str, learner: type[Named]) -> str:
    """Write the page of a learner, of any family."""
    told = sections(sys.modules[learner.__module__].__doc__)[""]
    opening, _, rest = told.partition("\n\n")
    update, _, promise = rest.partition("Promise. ")
    doc = sections(learner.__doc__)
    parts = [f"# {name}", markdown(opening), GUIDES.get(name, "")]
    parts += ["## Update", *blocks(update.strip("\n"))]
    if promise or learner.theorems:
        parts += ["## Promise", *(blocks(promise) if promise else [])]
        parts += [theorem_box(theorem) for theorem in learner.theorems]
    parts += [
        "## Class",
        f'Built by class, or by name: `{maker(learner)}("{name}")`. It also has the'
        f" members of [every {words_of(learner).one}](/api.md#{learner.family}).",
        reference(learner),
        *command_of(learner),
    ]
    if "Examples" in doc:
        # The docstring takes its own class for granted.
        home = path_of(learner).rpartition(".")[0]
        imported = f">>> from {home} import {learner.__name__}\n>>>"
        parts += ["## Example", *blocks(doc["Examples"].replace(">>>", imported, 1))]
    if "References" in doc:
        parts += ["## Source", *blocks(doc["References"])]
    return "\n\n".join(parts) + "\n"


def maker(learner: type[Named]) -> str:
    """Return the function that makes a learner by its name."""
    return f"{path_of(learner).rpartition('.')[0]}.make"


def command_of(learner: type[Named]) -> list[str]:
    """Say how a learner is used in a shell."""
    command = explain(learner)["command"]
    family = "" if learner.family == "learners" else f" --family {learner.family}"
    shown = (
        f"`noregret learners {learner.name}{family}` prints the same in a terminal,"
        " with `--json` for programs."
    )
    if command is None:
        return ["## On the command line", shown]
    if learner.family == "learners":
        shown = f"See [the command](/run.md); {shown}"
    return ["## On the command line", f"```sh\n{command}\n```", shown]


def theorem_box(theorem: Theorem) -> str:
    """Write a theorem as it stands on its learner's page."""
    title = f"Theorem [{theorem.name}](/theorems/{theorem.name}.md)"
    about = f"{'lets grow' if theorem.warning else 'bounds'} {QUANTITIES[theorem.quantity]}"
    opening = f"::::{{admonition}} {title} {about}"
    return "\n".join([opening, ":class: theorem", "", *theorem_facts(theorem), "::::"])


def theorem_facts(theorem: Theorem) -> list[str]:
    """List the formula of a theorem, what it assumes, how to tune for it and where it is from."""
    lines = ["$$", theorem.formula, "$$", ""]
    lines += [f"Here {theorem.where}.", ""] if theorem.where else []
    lines += ["**Assumes**", ""]
    lines += [f"- {assumption.statement}" for assumption in theorem.assumptions]
    if theorem.tuning:
        lines += ["", f"**Tuning.** {theorem.tuning}"]
    if attacks := of_theorem(theorem.name):
        lines += ["", "**[When attacked](/attacks.md).**", ""]
        lines += [f"- `{e.adversary}`: {prose(f'{e.summary}. {e.remark}')}" for e in attacks]
    if theorem.source:
        lines += ["", f"**Source.** {theorem.source}"]
    return lines


def reference(learner: type[Named]) -> str:
    """Describe the class: its signature, its parameters, and what it adds to a learner."""
    doc = sections(learner.__doc__)
    described = entries(doc.get("Parameters", ""))
    parameters = inspect.signature(learner).parameters
    if odd := sorted(parameters.keys() ^ described.keys()):
        raise ExtensionError(
            f"{learner.__name__}: parameters and their docstring differ in: {', '.join(odd)}"
        )
    shown = ", ".join(f"{p.name}: {p.annotation} = {p.default!r}" for p in parameters.values())
    lines = [
        f"`````{{py:class}} {path_of(learner)}({shown})",
        f":canonical: {learner.__module__}.{learner.__qualname__}",
        "",
        "\n\n".join(blocks(doc[""])),
        "",
        *(f":param {name}: {markdown(text)}" for name, text in described.items()),
        "",
    ]
    for name, member in vars(learner).items():
        if isinstance(member, property) and not name.startswith("_"):
            about = markdown(inspect.cleandoc(member.__doc__ or ""))
            lines += [f"````{{py:property}} {name}", about, "````", ""]
        elif is_new(learner, name, member):
            takes = ", ".join(list(inspect.signature(member).parameters)[1:])
            about = markdown(inspect.cleandoc(member.__doc__ or ""))
            lines += [f"````{{py:method}} {name}({takes})", about, "````", ""]
    return "\n".join([*lines, "`````"])


def is_new(learner: type[Named], name: str, member: object) -> bool:
    """Return whether a member is a method that not every linear learner has."""
    public = inspect.isfunction(member) and not name.startswith("_")
    return public and learner.family == "learners" and not hasattr(noregret.Learner, name)


def learners_index(learners: list[type[Named]]) -> str:
    """List all learners, family by family."""
    lines = [
        "# Learners",
        "",
        "All algorithms by name. `noregret.make(name)` builds a linear learner, and"
        " `noregret.all_learners()` lists them; [The one principle](/principle.md) explains how"
        " they are related.",
        "",
    ]
    for family, words in WORDS.items():
        if group := [learner for learner in learners if learner.family == family]:
            lines += [f"## {words.title}", "", words.about, "", *table_of(group)]
    return "\n".join([*lines, toctree(local(learner) for learner in learners)])


def local(learner: type[Named]) -> str:
    """Return the place of a learner's page among those of the learners."""
    return page_of(learner).removeprefix("/learners/").removesuffix(".md")


def table_of(learners: list[type[Named]]) -> list[str]:
    """List the learners of a family."""
    rows = []
    for learner in learners:
        theorems = ", ".join(f"[{t.name}](/theorems/{t.name}.md)" for t in learner.theorems)
        about = markdown(sections(learner.__doc__)[""].split("\n\n")[0].replace("\n", " "))
        rows.append(f"* - [`{learner.name}`]({local(learner)}.md)\n  - {about}\n  - {theorems}")
    head = ["::::{list-table}", ":header-rows: 1", ":widths: 26 50 24", ":class: stacks", ""]
    return [*head, "* - Name\n  - What it does\n  - Theorems", *rows, "::::", ""]


# A theorem's page.


def theorem_page(theorem: Theorem, learner: type[Named] | None) -> str:
    """Write the page of a theorem."""
    of = owner(learner)
    opening = [
        f"# Theorem {theorem.name}",
        "",
        f"A warning: for {of}, {QUANTITIES[theorem.quantity]} can grow like this."
        if theorem.warning
        else f"For {of}, it bounds {QUANTITIES[theorem.quantity]}.",
    ]
    return "\n".join([*opening, "", *theorem_facts(theorem), "", NOTATION])


def owner(learner: type[Named] | None) -> str:
    """Name the learner that answers for a theorem, and its family unless it is the linear one."""
    if learner is None:
        return "every [averaged](/api.md) learner"
    family = "" if learner.family == "learners" else f" ({learner.family})"
    return f"[`{learner.name}`]({page_of(learner)}){family}"


def theorems_index(theorems: dict[str, tuple[Theorem, type[Named] | None]]) -> str:
    """List all theorems, by what they bound."""
    lines = [
        "# Theorems",
        "",
        "The guarantees of the learners. Each holds on every sequence of examples that meets its"
        " assumptions, even one chosen by an adversary.",
        "",
        NOTATION,
    ]
    groups = {
        f"Bounds on {words}": [t for t in theorems.values() if is_bound_on(quantity, t[0])]
        for quantity, words in QUANTITIES.items()
    }
    groups["Warnings"] = [t for t in theorems.values() if t[0].warning]
    for title, group in groups.items():
        if not group:
            continue
        lines += [f"## {title}", ""]
        for theorem, learner in group:
            lines += [f"**[{theorem.name}]({theorem.name}.md)**, of {owner(learner)}", ""]
            lines += ["$$", theorem.formula, "$$", ""]
    return "\n".join([*lines, toctree(theorems)])


def is_bound_on(quantity: str, theorem: Theorem) -> bool:
    """Return whether a theorem bounds that quantity."""
    return theorem.quantity == quantity and not theorem.warning


def toctree(names: Iterable[str]) -> str:
    """Name the pages below an index to Sphinx; the index itself lists them for the reader."""
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```", ""])


# Writing.


def all_pages() -> dict[str, str]:
    """Return every generated page: its place and its text."""
    learners = all_algorithms()
    theorems = noregret.all_theorems()
    pages = {page_of(kind).removeprefix("/"): learner_page(kind.name, kind) for kind in learners}
    pages |= {f"theorems/{name}.md": theorem_page(*of) for name, of in theorems.items()}
    pages["learners/index.md"] = learners_index(learners)
    pages["theorems/index.md"] = theorems_index(theorems)
    return pages


def write_pages(app: Sphinx) -> None:
    """Bring the generated folders in line with the registry, touching only what changed."""
    root = Path(app.srcdir)
    pages = {root / place: text for place, text in all_pages().items()}
    for folder in FOLDERS:
        for gone in set((root / folder).rglob("*.md")) - set(pages):
            gone.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# Links of written pages.

SOURCE_LINK = re.compile(r"\]\(\.\./src/(noregret/[\w/]+)(?:\.py)?(?:#theorem-([\w-]+))?\)")


def lead_to_pages(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Let the links to source files in a written page lead to the generated pages."""
    pages = {kind.__module__.replace(".", "/"): page_of(kind) for kind in all_algorithms()}
    pages["noregret/learners"] = "/learners/index.md"

    def lead(link: re.Match[str]) -> str:
        module, theorem = link.groups()
        return f"](/theorems/{theorem}.md)" if theorem else f"]({pages[module]})"

    source[0] = SOURCE_LINK.sub(lead, source[0])


def setup(app: Sphinx) -> ExtensionMetadata:
    """Write the pages before Sphinx looks which there are."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", lead_to_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
