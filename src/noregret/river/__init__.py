"""Every learner as a River estimator: ``noregret.river.WidrowHoffRegressor()`` and so on.

The classes are made from the registry on request, one for each learner that predicts numbers or
labels; ``dir(noregret.river)`` lists them. They work like River's own: pipelines,
``progressive_val_score``, ensembles, ``clone``, pickle.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    from noregret.linear.regressor_or_classifier import all_kinds, find_kind

    if name == "__all__":
        return sorted(all_kinds())
    kind = find_kind(name)
    if kind is None:
        raise AttributeError(f"module 'noregret.river' has no attribute {name!r}")
    try:
        import river  # noqa: F401
    except ImportError:
        raise ImportError(
            f"noregret.river.{name} needs River, which is not installed: pip install river"
        ) from None
    from noregret.river.making import estimator

    globals()[name] = made = estimator(kind)
    return made


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
