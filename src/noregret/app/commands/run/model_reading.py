"""A model with new data, which are read as its own were."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from noregret.base.model_file import UNUSABLE, load_with_stream
from noregret.errors import ModelFileError, NoRegretError
from noregret.linear.learner import Learner
from noregret.streams import format_of, formats, stream_of
from noregret.streams.addresses import scheme_of
from noregret.streams.open_file import is_remote
from noregret.streams.options import FORM, Options
from noregret.streams.source import suffix_of
from noregret.streams.stream import Reading, Stream

if TYPE_CHECKING:
    from noregret.experts.ensemble import Experts


class Opened(NamedTuple):
    """A model, the stream of new data, and how the model's own were read.

    Of an ensemble, ``learner`` is the member that knows all features.
    """

    path: str
    learner: Learner
    stream: Stream
    kept: dict[str, Any] | None
    arrays: dict[str, NDArray[Any]]
    experts: Experts | None = None

    def restore(self, reading: Reading) -> None:
        """Restore the state of reading from when the model was trained."""
        _, _, names = self.learner.get_state()
        if bool(names) != reading.named and self.learner.rounds:
            known = "by name" if names else "by number"
            raise NoRegretError(
                f"this model knows its features {known}, and {reading.stream.name} data do not"
            )
        try:
            if self.kept is not None:
                reading.set_state(self.arrays, self.kept)
        except UNUSABLE as error:
            raise invalid(self.path, error) from None
        if reading.named and reading.options.hash is None:
            reading.vocabulary.positions(names, True)


def opened(
    model: str,
    data: list[str],
    *,
    format: str | None,
    missing: str | None,
    mixtures: bool = False,
    **options: Any,
) -> Opened:
    """Load a model for new data.

    Parameters
    ----------
    model, data
        The files.
    format, missing
        How they are read, if not as the model's own.
    mixtures
        Whether the model may be an ensemble.
    options
        Other options of the stream.
    """
    learner, kept, arrays = load_with_stream(model)
    experts = None
    if getattr(learner, "_is_ensemble", False):
        if not mixtures:
            raise NoRegretError(
                f"{model}: a mixture of learners, which goes on in Python: noregret.load(…), then"
                " noregret.play(…)"
            )
        from noregret.app.commands.run.ensemble_scoring import widest_of

        experts, learner = learner, widest_of(learner)
    if learner.family == "batch":
        learner = learner._predictor()
    if learner.family != "learners":
        raise NoRegretError(
            f"{model}: {learner.name} is not a linear learner: noregret.load reads it in Python;"
            " ‘noregret mix’ forecasts the rows of its data that have no outcome"
        )
    if not isinstance(learner, Learner):
        raise NoRegretError(
            f"{model}: the model of {learner.name} ({learner.family}), which predicts nothing from"
            " features: load it in Python"
        )
    kind = format
    if kind is None and kept is not None and suffix_of(data[0]) not in formats():
        kind = kept.get("format")
    try:
        found = Options() if kept is None else Options.of(**kept["options"])
        found = replace(found, format=kind, **options)
        if missing is not None:
            found = replace(found, missing=missing)
        stream = stream_of(data, for_format(data, found))
        return Opened(model, learner, stream, kept, arrays, experts)
    except NoRegretError:
        raise
    except UNUSABLE as error:
        raise invalid(model, error) from None


def invalid(model: str, error: BaseException) -> ModelFileError:
    """Return the error of a model whose reading is not as noregret writes it."""
    return ModelFileError(f"{model}: it has invalid options of reading: {error}")


def for_format(data: list[str], options: Options) -> Options:
    """Return options without those of how the model's own files were written in another format."""
    usual, alien = Options(), [*FORM, "header", "quotes"]
    if not any(scheme_of(each) and not is_remote(each) for each in data):
        meaningless = format_of(data, options).meaningless
        alien = [name for name in alien if name in meaningless]
    return replace(options, **{name: getattr(usual, name) for name in alien})
