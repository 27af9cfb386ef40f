"""Charts that compare predictions with outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.bars import histogram
from noregret.app.report.charts.calibration import calibration_chart
from noregret.app.report.charts.cells import heat_map
from noregret.app.report.charts.plot import figure_of
from noregret.app.report.page.markup import Html, element
from noregret.base.numbers import count, figure, name_of, percent

if TYPE_CHECKING:
    from noregret.app.results.run import Calibration, Histogram, Outlook, Result


# Classes with a row and a column of their own, and the length of their names there.
MAX_SHOWN_CLASSES, MAX_CLASS_NAME = 12, 16
# With more classes, columns are too narrow for words and digits.
MAX_WORDED = 4


def outlook_charts(result: Result) -> list[Html]:
    """Return the charts that there are data for."""
    outlook, charts = result.outlook, []
    if outlook.residuals is not None and outlook.residuals.counts.sum() > 0:
        charts.append(residual_chart(outlook.residuals))
    if outlook.spread is not None and outlook.spread.sum() > 0:
        charts.append(spread_chart(outlook))
    if outlook.calibration is not None and outlook.calibration.counts.sum() > 0:
        charts.append(calibrated(outlook.calibration))
    classes = [each.name for each in result.measures.classes]
    if outlook.confusion is not None:
        names = classes if len(classes) == 2 else ["−", "+"]
        averaged = bool(result.params.get("averaged"))
        charts.append(confusion_table(np.array(outlook.confusion), names, averaged))
    elif result.measures.confusion is not None:
        found = result.measures.confusion
        unpredicted = sum(each.rows for each in result.measures.classes) - int(found.sum())
        charts.append(confusion_table(*confused(found, classes), unpredicted=unpredicted))
    return charts


def confused(counts: NDArray[np.int64], classes: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Return a confusion matrix that fits a page, all other classes in its last row and column."""
    size = len(counts) if len(counts) == len(classes) else len(counts) - 1
    shown = min(size, MAX_SHOWN_CLASSES)
    if shown == len(counts):
        return counts, classes
    at = np.append(np.arange(shown), shown)
    made = np.add.reduceat(np.add.reduceat(counts, at[at < len(counts)], axis=0), at, axis=1)
    return made, [*classes[:shown], "others"]


def residual_chart(found: Histogram) -> Html:
    """Return a histogram of the errors."""
    total = int(found.counts.sum())
    return figure_of(
        "Errors",
        "Outcome minus prediction. To the right of zero, the prediction was too low.",
        [],
        histogram(
            found.edges,
            found.counts,
            "outcome − prediction",
            f"Histogram of outcome minus prediction, {count(total, 'row')}.",
        ),
    )


def spread_chart(outlook: Outlook) -> Html:
    """Return outcomes against predictions."""
    assert outlook.spread is not None
    total = int(outlook.spread.sum())
    return figure_of(
        "Outcome against prediction",
        "Cells of a stronger colour hold more rows. On the dashed line, the prediction was right.",
        [],
        heat_map(
            outlook.spread,
            outlook.low,
            outlook.high,
            f"Heat map of outcomes against predictions, {count(total, 'row')}.",
        ),
    )


def calibrated(found: Calibration) -> Html:
    """Return predicted probabilities against observed frequencies."""
    total = int(found.counts.sum())
    return figure_of(
        "Calibration",
        "Larger dots hold more rows. On the dashed line, the predicted probability equals the"
        " observed frequency.",
        [],
        calibration_chart(
            found, f"Calibration curve of {count(total, 'row')} in {len(found.counts)} bins."
        ),
    )


def confusion_table(
    found: NDArray[np.int64], names: Sequence[str], averaged: bool = False, unpredicted: int = 0
) -> Html:
    """Return the confusion matrix; ``unpredicted`` is the number of rows without a prediction.

    A learner that averages its weights predicts with the mean weights, but its mistakes are counted
    for the weights being averaged.
    """
    words = (
        "Rows by true class (down) and predicted class (across), with the share of the true class"
    )
    words += (
        f". {count(unpredicted, 'row')} before the first known class had no prediction, and"
        f" {'is' if unpredicted == 1 else 'are'} left out; the recalls above count"
        f" {'it' if unpredicted == 1 else 'them'} as wrong."
        if unpredicted > 0
        else ": on the diagonal, the recall."
    )
    if len(names) == 2:
        words += " A probability of exactly ½ counts as wrong."
    if averaged:
        words += (
            " These are the predictions of the mean weights; all other figures are those of the"
            " weights being averaged."
        )
    most = max(1, int(found.max(initial=0)))
    shown, many = [name_of(name, MAX_CLASS_NAME) for name in names], len(names) > MAX_WORDED
    head = element(
        "tr",
        element("td"),
        *(element("th", name if many else f"predicted {name}", scope="col") for name in shown),
    )
    rows = [
        element(
            "tr",
            element("th", name if many else f"true {name}", scope="row"),
            *(cell(n, sum(counts), most, right == i, many) for i, n in enumerate(counts)),
        )
        for right, (name, counts) in enumerate(zip(shown, found.tolist(), strict=True))
    ]
    return figure_of(
        "Confusion matrix",
        words,
        [],
        element("table", element("thead", head), element("tbody", *rows), class_="confusion"),
    )


def cell(number: int, of: int, most: int, right: bool, rounded: bool) -> Html:
    """Return a cell of the table: the count, and the share of its row."""
    share = "–" if not of else f"{number / of:.0%}" if rounded else percent(number / of)
    return element(
        "td",
        element("b", figure(number)),
        element("span", share),
        class_="right" if right else "wrong",
        style=f"--part:{100 * number / most:.1f}%",
    )
