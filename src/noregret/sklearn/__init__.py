"""Every learner as a scikit-learn estimator: ``WidrowHoffRegressor``, ``LogisticClassifier``, ….

The classes are made from the registry of learners: a learner with losses for numbers is a
regressor, one with losses for labels a classifier, and many are both. They work in Pipeline,
GridSearchCV and wherever else scikit-learn takes an estimator, and have a certificate of their
fit.

>>> from noregret.sklearn import PerceptronClassifier
>>> PerceptronClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]).classes_
array(['no', 'yes'], dtype='<U3')
"""

from typing import Any

try:
    import sklearn as _needed
except ModuleNotFoundError as _missing:
    raise ImportError(
        "noregret.sklearn needs scikit-learn: pip install 'noregret[sklearn]'", name=_missing.name
    ) from None

from noregret.sklearn.making import estimator, names

del _needed


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return names()
    found = estimator(name)
    if found is None:
        raise AttributeError(f"module 'noregret.sklearn' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return names()
