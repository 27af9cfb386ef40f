"""The result of a run in sentences and figures, shared by the HTML page and the terminal."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from noregret.app.report.certificate.sheet import NARROW, class_words, loss_of
from noregret.app.report.certificate.verdict import (
    Trivial,
    Verdict,
    least_trivial,
    vacuous,
    verdict_of,
)
from noregret.base.numbers import brief, clean, count, duration, known, megabytes, name_of, percent
from noregret.limits import INTERCEPT

if TYPE_CHECKING:
    from noregret.app.results.run import Result
    from noregret.proof.certificates.certificate import Interval
    from noregret.proof.certificates.groups import Grouped


# The comparison class that is not named in sentences, and the words before a limit on its norm.
LINEAR_MODELS, UP_TO = "all linear predictors", " of norm at most "
# Computing hindsight is mentioned if it took at least this many seconds.
MIN_SHOWN_SECONDS = 10.0
# Larger ratios are not shown, as the other figure is nearly zero; and not given exactly.
MAX_SHOWN_RATIO, MAX_EXACT_RATIO = 1e5, 100


class Standing(NamedTuple):
    """Mean losses side by side; None if there is nothing to compare with.

    ``loss``, ``constant`` and ``hindsight`` are means; ``accuracy`` is a share of the rows.
    """

    loss: float | None
    constant: float | None
    hindsight: float | None
    accuracy: float | None


def standing_of(result: Result) -> Standing:
    """Return the mean losses of a run and of its baselines."""
    rows = result.rows
    weight = known(result.weight) or float(rows)
    if rows <= 0 or weight <= 0:
        return Standing(None, None, None, None)
    constant = known(result.constant.loss) if result.constant else None
    certificate = result.certificate
    best = known(certificate.hindsight.loss) if certificate else None
    return Standing(
        known(result.total / weight),
        None if constant is None else known(constant / weight),
        None if best is None else known(best / weight),
        None if result.mistakes is None else 1 - result.mistakes / rows,
    )


class Measure(NamedTuple):
    """The error of a run and of its baselines, under its usual name (RMSE, MAE, …).

    ``compared`` is that of the run over the rows with a previous value.
    """

    name: str
    mine: float | None
    constant: float | None
    hindsight: float | None
    previous: float | None = None
    initial: float | None = None
    compared: float | None = None


# Features that a target without error is computed from are named if they are at most so many.
MAX_LEAKING = 3
# Weights of at most this share of the largest are rounding errors.
NEGLIGIBLE = 1e-6
# What is said of a target that never changes.
NO_VARIATION = "there is nothing to learn"
# Seconds to suggest where the time to look back was too short.
LONGER = 60
# The usual names of mean losses.
MEASURES = {"square": "RMSE", "absolute": "MAE", "logistic": "log loss", "softmax": "log loss"}
# The losses of several classes, and how many of these are named.
CLASS_LOSSES, MAX_CLASSES_NAMED = ("softmax", "multiclass-hinge", "multiclass-mistake"), 5
# An AUC that is known less exactly is shown with its doubt.
MIN_SHOWN_DOUBT = 0.0005


def measure_of(result: Result) -> Measure:
    """Return the error of a run: RMSE, MAE, log loss, or else the mean of its loss."""
    now = standing_of(result)
    means = [now.loss, now.constant, now.hindsight]
    if result.loss == "square":
        means = [None if mean is None else math.sqrt(max(0.0, mean)) for mean in means]
    mine, constant, hindsight = means
    name = MEASURES.get(result.loss, f"mean {lost(result)}")
    before, initial = (
        {"RMSE": found.rmse, "MAE": found.mae}.get(name)
        for found in (result.measures.previous, result.measures.initial)
    )
    same = result.measures.previous
    rest = {"RMSE": same.mine_rmse, "MAE": same.mine_mae}.get(name)
    return Measure(name, mine, constant, hindsight, before, initial, rest)


def since(result: Result) -> str:
    """Name the rows that have a previous outcome."""
    return f"from row 2{' of each group' if result.by_group else ''} on"


def over_same(result: Result, error: Measure) -> str:
    """Return the error over the rows with a previous value, if leaving out the first matters."""
    if error.compared is None or brief(error.compared) == brief(error.mine or 0.0):
        return ""
    return f" (against {brief(error.compared)}, {since(result)})"


def accuracy_words(result: Result) -> str:
    """Return the mistakes, and the accuracies of the most frequent and of the previous class."""
    found, certificate, said = result.measures, result.certificate, []
    if result.mistakes is not None:
        said.append(count(result.mistakes, "mistake"))
        stated = None if certificate is None else certificate.loss.mistakes
        if stated not in (None, result.mistakes):
            said[0] += (
                f" ({stated:,} in the certificate, which treats a class as known in the row where"
                " it first appears)"
            )
    if found.frequent is not None:
        said.append(f"always predicting the most frequent class: {percent(found.frequent)}")
    if found.previous.accuracy is not None:
        said.append(f"repeating the previous class: {percent(found.previous.accuracy)}")
        mine = found.previous.mine_accuracy
        total = None if result.mistakes is None else 1 - result.mistakes / max(1, result.rows)
        if mine is not None and total is not None and percent(mine) != percent(total):
            said[-1] += f" (against {percent(mine)}, {since(result)})"
    return "; ".join(said)


def constant_words(result: Result) -> str:
    """Name the best constant prediction."""
    assert result.constant is not None
    value = result.constant.value
    if result.loss == "softmax":
        return "the class frequencies"
    if result.loss == "logistic" and abs(value) < MAX_SHOWN_RATIO:
        return f"the best constant probability ({percent(1 / (1 + math.exp(-value)))})"
    return f"the best constant ({brief(value)})"


def explained_words(share: float) -> tuple[str, str]:
    """Return the share of variance explained, R², and its definition.

    Below 0, the figure tells nothing more: the first predictions of few rows are blind.
    """
    if share < 0:
        return "below 0", "no better than a constant"
    return percent(share), "variance of the target explained"


def trivial_of(result: Result) -> Trivial | None:
    """Return the loss of the best constant, which a bound must not exceed to say something."""
    promise = None if result.certificate is None else result.certificate.theorem
    if promise is not None and promise.quantity in ("mistakes", "corrections"):
        return Trivial(result.rows, "the number of rows")
    if result.constant is None:
        return None
    constant = "class frequencies" if result.loss == "softmax" else "best constant"
    return Trivial(result.constant.loss, f"the total loss of the {constant}")


def auc_words(doubt: float | None) -> str:
    """Say what an AUC is, and how exactly it is known."""
    exact = f" (known to ±{doubt:.1g})" if doubt is not None and doubt >= MIN_SHOWN_DOUBT else ""
    return f"how often a positive row is ranked above a negative one; 0.5 is chance{exact}"


def target_of(result: Result) -> tuple[str, str] | None:
    """Return the type of the target, and the reason; None if it was given."""
    classes, choice, constant = result.measures.classes, result.choice, result.constant
    why = "" if choice is None else choice.words
    if result.loss not in CLASS_LOSSES:
        if choice is not None and constant is not None and constant.loss == 0 and result.rows > 1:
            why = f"always {brief(constant.value)}: {NO_VARIATION}"
        return None if choice is None else (choice.outcomes, why)
    if len(classes) == 1 and result.rows > 1:
        return "1 class", f"always {name_of(classes[0].name)}: {NO_VARIATION}"
    names = [name_of(each.name) for each in classes[:MAX_CLASSES_NAMED]]
    names += ["…"] if len(classes) > len(names) else []
    many = "1 class" if len(classes) == 1 else f"{len(classes):,} classes"
    return many, "; ".join(filter(None, [", ".join(names), why]))


def compared(mine: float | None, other: float | None) -> str:
    """Say how much less or more one is than the other; empty where that makes no sense.

    >>> compared(1.0, 4.0), compared(1.1, 1.0), compared(50.0, 2.0), compared(2.0, 2.0)
    ('75.0% less', '10.0% more', '25 times as much', 'the same')
    """
    if mine is None or other is None or other <= 0:
        return ""
    ratio = mine / other
    if not abs(ratio) < MAX_SHOWN_RATIO:  # the other is nearly zero
        return ""
    if abs(ratio - 1) < NARROW:
        return "the same"
    if ratio >= MAX_EXACT_RATIO:
        return f"over {MAX_EXACT_RATIO} times as much"
    if ratio >= 3:
        return f"{ratio:.3g} times as much"
    return f"{percent(abs(ratio - 1))} {'less' if ratio < 1 else 'more'}"


def against(mine: float | None, other: float | None, what: str) -> str:
    """Compare two numbers in words, naming what the second one is; empty as above.

    >>> against(1.0, 4.0, "the best constant")
    '75.0% less than the best constant'
    """
    how = compared(mine, other)
    link = "as" if how == "the same" or how.endswith("much") else "than"
    return f"{how} {link} {what}" if how else ""


def error_against(
    mine: float | None, other: float | None, what: str, measure: str = "error"
) -> str:
    """Compare two errors in words, naming what the second one is; empty as above.

    A log loss is named, as it is not what most readers call an error.

    >>> error_against(1.0, 4.0, "the best constant")
    '75.0% less error than the best constant'
    >>> error_against(50.0, 2.0, "the best constant")
    '25 times the error of the best constant'
    >>> error_against(1.0, 4.0, "predicting the class frequencies", "log loss")
    '75.0% lower log loss than predicting the class frequencies'
    """
    how = compared(mine, other)
    name = "log loss" if measure == "log loss" else "error"
    if how == "the same":
        return f"the same {name} as {what}"
    if how.endswith("times as much"):
        return f"{how.removesuffix(' as much')} the {name} of {what}"
    if name == "log loss":
        how = how.replace("less", "lower").replace("more", "higher")
    return f"{how} {name} than {what}" if how else ""


def best_fixed(result: Result) -> str:
    """Name the best fixed predictor in hindsight, and the class that it is the best of."""
    scaled = any(transform.startswith("scale=") for transform in result.transforms)
    of = " on the scaled features" if scaled else ""
    of += " for all groups" if result.by_group else ""
    certificate = result.certificate
    comparator = LINEAR_MODELS if certificate is None else class_words(certificate.hindsight)
    name, found, norm = comparator.partition(UP_TO)
    best = "in hindsight" if certificate is None or proven(result) else "found in hindsight"
    if name in (LINEAR_MODELS, LINEAR_MODELS.removeprefix("all ")):
        size, own, whose = norm.partition(", ")
        among = f", with weights of norm at most {size}" if found else ""
        among += f" ({whose})" if own else ""
        return f"the best fixed linear model{of} {best}{among}"
    return f"the best fixed predictor{of} {best} (among {comparator})"


def exact_fit(result: Result) -> str:
    """Explain an error of nearly zero in hindsight; empty if there is another."""
    error = measure_of(result)
    if error.hindsight is None or not error.constant:
        return ""
    if error.hindsight > NARROW * error.constant:
        return ""
    if result.features >= result.rows:
        return "a linear model with as many features as rows can fit any target exactly"
    return leaking(result, error.constant)


def leaking(result: Result, size: float) -> str:
    """Name the few features that the target is computed from; ``size`` is its usual size."""
    if result.certificate is None or result.loss not in ("square", "absolute"):
        return ""
    weights = dict(result.certificate.hindsight.witness)
    offset = abs(weights.pop(INTERCEPT, 0.0))
    least = NEGLIGIBLE * max(map(abs, weights.values()), default=0.0)
    used = {name: weight for name, weight in weights.items() if abs(weight) > least}
    if not used or len(used) > MAX_LEAKING or result.target is None:
        return ""
    names = [name_of(name) for name in used]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    plain = offset <= NEGLIGIBLE * size and all(
        abs(weight - 1) <= NEGLIGIBLE for weight in used.values()
    )
    if plain:
        how = f"equals {listed}" if len(names) == 1 else f"is the sum of {listed}"
    else:
        how = f"is a linear function of {listed}"
    known_before = "was this" if len(names) == 1 else "were these"
    drop = "" if any("=" in name or ":" in name for name in used) else f" (--drop {','.join(used)})"
    return f"the target {how}: {known_before} known before it{clean(drop)}?"


def regret(result: Result) -> tuple[str, str] | None:
    """Return the regret and its definition; None without a certificate."""
    certificate = result.certificate
    if certificate is None:
        return None
    ends, best = certificate.regret, certificate.hindsight
    of_all = " for all groups" if certificate.groups is not None else ""
    about = f"total loss minus that of the best fixed model{of_all}"
    if is_narrow(ends, result.total):
        about += share_words(ends.upper, best.loss)
    return regret_words(result, ends, about, best.seconds, least_words(result))


def share_words(regret: float, best: float) -> str:
    """Return a regret as a share of the best loss; empty if that loss is nearly zero."""
    share = regret / best if best > 0 else math.inf
    if abs(share) >= MAX_EXACT_RATIO:
        return ""
    return f"; {share:.3g} times that loss" if share >= 3 else f"; {percent(share)} of it"


def regret_per_group(result: Result, grouped: Grouped) -> tuple[str, str]:
    """Return the regret against the best predictor of each group, and its definition."""
    best = grouped.hindsight
    about = "total loss minus that of the best fixed model of each group"
    if best.reached < grouped.keys:
        about += f" ({best.reached:,} of {grouped.keys:,} groups were searched in time)"
    least = f"a total loss below {brief(max(0.0, best.loss - best.gap))}"
    return regret_words(result, grouped.regret, about, best.seconds, least)


def regret_words(
    result: Result, ends: Interval, about: str, seconds: float | None, least: str
) -> tuple[str, str]:
    """Return a regret with its definition; an interval with how it can be made narrower."""
    lower, upper = ends.lower, ends.upper
    if not math.isfinite(upper):
        return f"≥ {brief(lower)}", ""
    narrow = is_narrow(ends, result.total)

    def shown(rows: int) -> str:
        low, high = brief(lower / rows), brief(upper / rows)
        return high if narrow or low == high else f"{low} to {high}"

    each = f"; {shown(result.rows)} per row" if result.rows else ""
    if shown(1) == brief(upper):
        return brief(upper), about + each
    if seconds is None:
        return shown(1), f"{about}{each}; proven only that no fixed predictor has {least}"
    longer = f"--look-back {brief(max(LONGER, 10 * math.ceil(seconds)))}s narrows the range"
    return shown(1), f"{about}{each}; hindsight took {duration(result.looked_back)}; {longer}"


def is_narrow(ends: Interval, total: float) -> bool:
    """Return whether an interval of the regret is as good as a number."""
    return ends.upper - ends.lower <= NARROW * max(abs(ends.lower), abs(total))


def proven(result: Result) -> bool:
    """Return whether the best found in hindsight is proven to be the best, nearly."""
    certificate = result.certificate
    if certificate is None:
        return False
    return is_narrow(certificate.regret, certificate.loss.total)


def least_words(result: Result) -> str:
    """Say which total loss no fixed predictor is below."""
    assert result.certificate is not None
    best = result.certificate.hindsight
    return f"a total loss below {brief(max(0.0, best.loss - best.gap))}"


def title(result: Result) -> str:
    """Return the title: learner, data and target."""
    target = f" → {name_of(result.target)}" if result.target else ""
    return f"{name_of(result.name)} on {sources(result.sources)}{target}"


def sources(given: tuple[str, ...]) -> str:
    """Name the files, without the folders they are in."""
    if not given:
        return "no data"
    first = "standard input" if given[0] == "-" else re.split(r"[\\/]", given[0])[-1] or given[0]
    more = f" and {len(given) - 1:,} more" if len(given) > 1 else ""
    return name_of(first) + more


def speed(result: Result) -> str:
    """Return rows and bytes per second; empty if the run was too short to measure."""
    if not result.seconds > 1e-9 or not result.rows:
        return ""
    rows = f"{brief(result.rows / result.seconds)} rows/s"
    if not result.size:
        return rows
    return f"{rows}, {megabytes(result.size / result.seconds)}/s"


def took(result: Result) -> str:
    """Return the running time and the speed."""
    fast = speed(result)
    spent = result.looked_back
    back = f"; hindsight took {duration(spent)}" if spent >= MIN_SHOWN_SECONDS else ""
    return duration(result.seconds) + (f", {fast}" if fast else "") + back


def judged(result: Result) -> Verdict:
    """Return the verdict of the certificate, or the reason why there is none."""
    if result.certificate is not None:
        return verdict_of(result.certificate, trivial_of(result))
    why = promise_words(result).removeprefix("There is no certificate: ")
    return Verdict("open", "NO CERTIFICATE", why[:1].upper() + why[1:])


def sentence(result: Result) -> str:
    """Summarize the run in one or two sentences."""
    now = standing_of(result)
    if now.loss is None:
        return "No row was learned from, so there is nothing to report."
    error = measure_of(result)
    reached = f"{'an' if error.name == 'RMSE' else 'a'} {error.name} of {brief(error.mine or 0.0)}"
    if now.accuracy is not None:
        reached = f"an accuracy of {percent(now.accuracy)} and {reached}"
    told = f"Over {count(result.rows, 'row')}, {name_of(result.name)} reached {reached}"
    both = (
        error_against(error.mine, error.constant, "the best constant prediction", error.name),
        error_against(error.mine, error.hindsight, best_fixed(result), error.name),
    )
    compares = ", and ".join(filter(None, both))
    told += f": {compares}. " if compares else ". "
    return told + promise_words(result, trivial_of(result))


def promise_words(result: Result, trivial: Trivial | None = None) -> str:
    """Say in one sentence whether the theorem's bound held."""
    certificate = result.certificate
    if certificate is None:
        why = clean(result.uncertified or "").rstrip(".")
        return f"There is no certificate{f': {why}' if why else ''}."
    if certificate.theorem is None and certificate.groups is None:
        return "No theorem covers these parameters, so no bound is claimed."
    promise = certificate.theorem
    if promise is not None and promise.holds:
        said = vacuous(promise.bound, least_trivial(certificate, promise, trivial))
        if said:
            return f"The theorem's bound holds, but it is {said}."
        return "The theorem's bound holds."
    if promise is not None and promise.failed is not None:
        return f"No bound is claimed, since ‘{clean(promise.failed.name)}’ did not hold."
    return judged(result).words


def lost(result: Result) -> str:
    """Name the loss."""
    return loss_of(result.loss)
