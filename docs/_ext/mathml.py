r"""Mathematics as MathML, made when the site is built: no script, no font, no network.

docutils converts LaTeX to MathML. Three things are put right on the way. TeX takes a single digit
where an argument has no braces (``\tfrac12`` is one half), docutils takes the whole number; so
braces are added first. MathML takes the bars of a norm for operators, with wide spaces around
them; so the spaces are set as TeX sets them. And docutils sets the subscript of a letter with a hat
below the letter; so it is moved to the right.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
ARGUMENTS = {r"\frac": 2, r"\tfrac": 2, r"\dfrac": 2, r"\sqrt": 1, "^": 1, "_": 1}
# What docutils does not know, in words that it knows.
SPELLED = {r"\dots": r"\ldots", r"\big": "", r"\Big": "", r"\textstyle": ""}
# Where MathML would space or stretch otherwise than TeX: bars, slashes, braces; names of functions.
TIGHT = re.compile(r'<mo(?: stretchy="false")?>([|‖/{}])</mo>')
ACCENTED = re.compile(
    r'<munderover>\s*(<mi>[^<]*</mi>)((?:(?!</?munderover>).)*)(<mo stretchy="false">[ˆ¯ˉ˜]</mo>)'
    r"\s*</munderover>",
    re.DOTALL,
)
FUNCTION = re.compile(
    r"(?P<before></m(?:i|n|sup|sub|frac)>\s*(?:<(?:msub|munder)>\s*)?)?"
    r"<m[io](?P<limits> movablelimits=\"true\")?>(?P<name>ln|log|exp|min|max)</m[io]>"
    r"(?:\s*<mo>&ApplyFunction;</mo>)?(?P<after>\s*<mo[^>]*>\()?"
)


@cache
def to_mathml(tex: str, *, block: bool = False) -> str:
    """Convert a LaTeX formula to a MathML element; MathError says what is not understood."""
    if r"\operatorname*" in tex:
        raise MathError(r"\operatorname* is not understood: use \underset{…}{\mathrm{…}}")
    markup = tex2mathml(with_braces(tex), as_block=block)
    markup = TIGHT.sub(r'<mo stretchy="false" lspace="0.06em" rspace="0.06em">\1</mo>', markup)
    markup = ACCENTED.sub(r'<msub><mover accent="true">\1\3</mover>\2</msub>', markup)
    return FUNCTION.sub(spaced, markup).replace("&ApplyFunction;", "&#x2061;")


def spaced(match: re.Match[str]) -> str:
    """Give a function's name a thin space on either side, but not before a parenthesis."""
    before, limits, after = (match[part] or "" for part in ("before", "limits", "after"))
    left, right = "0.17em" if before else "0", "0" if after else "0.17em"
    operator = f'<mo{limits} lspace="{left}" rspace="{right}">{match["name"]}</mo>'
    return before + operator + after


def with_braces(tex: str) -> str:
    r"""Put braces around every argument, as TeX reads it: ``\frac\eta2`` → ``\frac{\eta}{2}``."""
    tokens = TOKEN.findall(tex)[::-1]
    braced = []
    while tokens:
        token = tokens.pop()
        braced.append(SPELLED.get(token, token))
        braced += [argument(tokens) for _ in range(ARGUMENTS.get(token, 0))]
    return "".join(braced)


def argument(tokens: list[str]) -> str:
    """Take one argument off the end of the reversed tokens: a group, or a single token."""
    while tokens and tokens[-1].isspace():
        tokens.pop()
    if not tokens:
        raise MathError("an argument is missing at the end of the formula")
    token = tokens.pop()
    if token == "[":  # the degree of a root comes before its argument
        degree = "".join(iter(tokens.pop, "]"))
        return f"[{degree}]{argument(tokens)}"
    if token != "{":
        return "{" + SPELLED.get(token, token) + "}"
    inside, depth = "", 1
    while depth:
        if not tokens:
            raise MathError("a brace is not closed")
        token = tokens.pop()
        depth += (token == "{") - (token == "}")
        inside += token if depth else ""
    return "{" + with_braces(inside) + "}"


def converted(node: nodes.Element, *, block: bool) -> str:
    """Convert a node's formula, or warn where it stands; the build is strict about warnings."""
    try:
        return to_mathml(node.astext(), block=block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node, type="mathml")
        return "<math></math>"


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(converted(node, block=False).replace("\n", ""))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number where it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append(converted(node, block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Offer the renderer to Sphinx as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
