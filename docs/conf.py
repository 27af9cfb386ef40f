"""Settings of the site: ``python -m sphinx -W --keep-going -n -b html docs docs/_build``."""

import gc
import sys
from pathlib import Path

from sphinx.builders.html import StandaloneHTMLBuilder

import noregret

gc.disable()  # a third of the time would go into looking for garbage where there is hardly any
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "noregret"
author = "The noregret developers"
copyright = author  # noqa: A001  (Sphinx reads this name)
version = release = noregret.__version__

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "command_line",
    "course",
    "docstrings",
    "error_messages",
    "learner_pages",
    "learner_table",
    "line_breaks",
    "master_table",
    "mathml",
    "measured",
    "package_map",
    "site_checks",
]
exclude_patterns = ["_build"]

# Pages are Markdown with $…$ and $$…$$ for mathematics.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
# `_static` and nothing else: no script, font or style sheet comes from a network.
html_math_renderer = "mathml"
html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"noregret {release}"
html_static_path = ["_static"]
html_css_files = ["noregret.css"]
html_js_files = ["accessible.js"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5f8b",
        "color-brand-content": "#1f5f8b",
        "color-brand-visited": "#1f5f8b",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8cc4ea",
        "color-brand-content": "#8cc4ea",
        "color-brand-visited": "#8cc4ea",
        "color-code-background": "#1b1d20",
    },
}
if tags.has("plain"):  # noqa: F821  (Sphinx defines it: `-t plain` builds in a third of the time)
    html_theme, html_theme_options = "basic", {}
    smartquotes = False
    StandaloneHTMLBuilder.search = False

python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Floats": "ndarray"}
napoleon_google_docstring = False
napoleon_use_rtype = False

# Names that other packages document, or that have no public page.
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|np|pathlib|collections\.abc)\..*"),
    ("py:.*", r"(.*\.)?(ndarray|NDArray|Path|Any|Floats|[AKLNRST]|G_co|Key|Clock|Quantity|Ledger)"),
    ("py:.*", r"(.*\.)?(Arms|Player|WeakLearner|Weigher|Wording|Factor|TypeAliasForwardRef)"),
    (
        "py:.*",
        r"(.*\.)?(EnsembleGame|Grouping|Pages|LearnerLike|Shard|Sharded|OverShards|SpreadRows)",
    ),
]
