"""The docstrings of estimators, from those of their learners."""

from __future__ import annotations

import inspect
import re

from noregret.sklearn.traits import Traits

# The descriptions of an estimator's parameters besides those of its learner.
PARAMETER_PAGES = {
    "fit_intercept": "Whether to learn a constant term, as the weight of one more column.",
    "intercept_scaling": "The value of that column: a larger one learns the constant faster.",
    "max_iter": "The number of passes over the examples in ``fit``.",
    "shuffle": "Whether ``fit`` shuffles the examples before each pass.",
    "average": "Predict with the mean of the weights of all rounds.",
    "class_weight": "The weight of each class: a dict, or ``balanced``.",
    "binarize": (
        "The learner takes only 0 and 1: values above this become 1, others 0. None if they are\n"
        "    0 and 1 already."
    ),
    "warm_start": "Whether ``fit`` continues from the previous state.",
    "random_state": "The seed of the shuffle, as in scikit-learn.",
}
ATTRIBUTES = {
    "coef_": "The weights, if predictions are linear: a 1-d array for a regressor, one row per"
    " learner for a classifier.",
    "intercept_": "The constant terms, one per learner.",
    "classes_": "The classes, in order; for classifiers.",
    "learners_": "The learners of noregret: one, or one per class if there are more than two and"
    " the learner\n    is for two; ``learner_`` is the first if there is only one.",
    "n_iter_": "The number of passes.",
    "n_features_in_": "The number of columns; ``feature_names_in_`` has their names, if any.",
}


def page(traits: Traits, signature: inspect.Signature) -> str:
    """Return the docstring of an estimator."""
    learner = traits.kind.learner
    text = inspect.cleandoc(learner.__doc__ or "")
    summary = text.split("\n\n", 1)[0]
    what = "classifier" if traits.labels else "regressor"
    own = [
        f"{each}\n    {told}"
        for each, told in PARAMETER_PAGES.items()
        if each in signature.parameters
    ]
    lines = [
        summary,
        "",
        f"The learner ``{learner.name}`` as a scikit-learn {what}.{differences(traits)}",
        "",
        *section("Parameters", "\n".join([*filter(None, [parameters(text)]), *own])),
        *section("Attributes", "\n".join(f"{k}\n    {told}" for k, told in ATTRIBUTES.items())),
        *section("Examples", example(traits.kind.name, traits.labels)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def differences(traits: Traits) -> str:
    """Describe the defaults that differ from the learner's."""
    if not traits.kind.params:
        return ""
    told = ", ".join(f"``{name}={value!r}``" for name, value in traits.kind.params.items())
    why = ""
    if "recent" in traits.kind.params:
        why = (
            "\n\nTables may be sorted, and the rows to predict do not follow them in time, so"
            " ``recent`` would\nmislead. Set it if rows are in time order, and each is predicted"
            " just before it is learned."
        )
    return f" Its defaults are the\nlearner's, except {told}.{why}"


def parameters(text: str) -> str:
    """Return the parameters section of a learner's docstring."""
    found = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n-{3,}|\Z)", text, re.DOTALL)
    return found[1] if found else ""


def section(title: str, body: str) -> list[str]:
    """Return a section of a docstring."""
    return [title, "-" * len(title), body, ""]


def example(name: str, labels: bool) -> str:
    """Return an example that runs."""
    outcomes = '["no", "no", "yes", "yes"]' if labels else "[1.0, 2.0, 3.0, 4.0]"
    return "\n".join(
        [
            f">>> from noregret.sklearn import {name}",
            ">>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]]",
            f">>> fitted = {name}(random_state=0).fit(X, {outcomes})",
            ">>> fitted.predict(X).shape",
            "(4,)",
        ]
    )
