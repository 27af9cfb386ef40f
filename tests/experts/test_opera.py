"""ML-Poly as R's opera computes it: two forecasters of the weekly series of the M4 competition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from tests.real_data import real_data


@pytest.fixture(scope="module")
def oracle() -> pd.DataFrame:
    contents = "columns series,t,y,e1,e2,mlpol_pred,w1,w2, the last three by opera for M4 weekly"
    return pd.read_csv(real_data("experts/m4_weekly_mlpol.csv", contents))


def test_weights_and_predictions_are_those_of_opera(oracle: pd.DataFrame) -> None:
    worst = 0.0
    for _, series in oracle.groupby("series"):
        rows = series.sort_values("t")
        X, y = rows[["e1", "e2"]].to_numpy(), rows["y"].to_numpy()
        said, used = np.empty(len(X)), np.empty(X.shape)
        nr.experts.MlPoly().play_block(X, y, said, used)
        off = np.abs(used - rows[["w1", "w2"]].to_numpy()).max()
        worst = max(worst, off, float(np.abs(said / rows["mlpol_pred"] - 1).max()))
    print(f"furthest from opera: {worst:.3g}")
    assert worst <= 1e-9
