r"""Convert Markdown with formulas to plain text: ``$\|x_t\|_2 \le X$`` becomes ‖x_t‖₂ ≤ X."""

from __future__ import annotations

import re

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "big": "", "Big": "",
    "Delta": "Δ", "nabla": "∇", "ell": "ℓ", "infty": "∞", "sum": "Σ",
    "le": "≤", "ge": "≥", "ne": "≠",
    "in": "∈", "cdot": "·", "dots": "…", "max": "max", "min": "min", "ln": "ln", "log": "log",
    "det": "det",
    "tanh": "tanh", "left": "", "right": "", "mathrm": "", "mathbb": "", "text": "",
}  # fmt: skip
MARKS = {
    r"^\top": "ᵀ", r"\|": "‖", r"\{": "{", r"\}": "}", r"\,": " ", r"\;": " ", r"\!": "",
    r"\ ": " ",
}  # fmt: skip
LOWERED = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
RAISED = str.maketrans("0123456789n+-", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁺⁻")
# The argument of a command: a group in braces, a command, or a single character.
ARGUMENT = r"\s*(\{(?:[^{}]|\{[^{}]*\})*\}|\\[a-zA-Z]+|[^\s{}\\])"


def readable(markdown: str) -> str:
    """Return Markdown as plain text, its formulas in Unicode."""
    pieces = re.split(r"\$([^$]+)\$", markdown)
    pieces[1::2] = [formula(piece) for piece in pieces[1::2]]
    return "".join(pieces).replace("`", "")


def formula(tex: str) -> str:
    """Return a simple formula in Unicode."""
    # Escaped braces are set aside while the grouping ones are removed.
    tex = tex.replace(r"\{", "\x01").replace(r"\}", "\x02")
    tex = re.sub(r"(\\ln\s*)?\\[td]?frac" + ARGUMENT + ARGUMENT, fraction, tex)
    tex = re.sub(r"\\sqrt" + ARGUMENT, lambda m: "√" + grouped(m[1]), tex)
    tex = re.sub(r"\^" + ARGUMENT, lambda m: scripted(m[1], "^", RAISED), tex)
    tex = re.sub(r"_" + ARGUMENT, lambda m: scripted(m[1], "_", LOWERED), tex)
    text = in_symbols(tex).replace("{", "").replace("}", "")
    return text.replace("\x01", "{").replace("\x02", "}")


def in_symbols(tex: str) -> str:
    """Replace commands by symbols."""
    for mark, symbol in MARKS.items():
        tex = tex.replace(mark, symbol)

    def symbol_of(found: re.Match[str]) -> str:
        if found[1] not in SYMBOLS:
            raise ValueError(f"no symbol for \\{found[1]} in {tex!r}")
        return SYMBOLS[found[1]]

    tex = re.sub(r"(?<=\w)(\\(?:max|min|ln))", r" \1", re.sub(r"\\nabla\s+", "∇", tex))
    return re.sub(r" +", " ", re.sub(r"\\([a-zA-Z]+)", symbol_of, tex))


def fraction(found: re.Match[str]) -> str:
    """Write a fraction on one line."""
    written = f"{grouped(found[2])}/{grouped(found[3])}"
    return f"{found[1].strip()}({written})" if found[1] else written


def grouped(argument: str) -> str:
    """Put an argument of more than one symbol in parentheses."""
    inner = argument.strip("{}") if argument.startswith("{") else argument
    return inner if re.fullmatch(r"\w|\\[a-zA-Z]+|\d+", inner) else f"({inner})"


def scripted(argument: str, mark: str, script: dict[int, int]) -> str:
    """Raise or lower digits; keep the mark before anything else."""
    inner = argument.strip("{}")
    moved = inner.translate(script)
    return moved if all(ord(letter) in script for letter in inner) else mark + inner
