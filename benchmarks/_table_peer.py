"""The peer of a table benchmark: pandas reads chunks, scikit-learn learns with partial_fit.

    python -m benchmarks._table_peer FILE RATE ROWS_PER_CHUNK

It prints the seconds it took, imports excluded, and the weights.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any


def main(path: str, rate: float, chunk: int) -> None:
    import pandas as pd
    from sklearn.linear_model import SGDRegressor

    if path.endswith(".parquet"):
        from pyarrow.parquet import ParquetFile
    start = time.perf_counter()

    def chunks() -> Iterator[Any]:
        if path.endswith(".parquet"):
            return (batch.to_pandas() for batch in ParquetFile(path).iter_batches(chunk))
        return iter(pd.read_csv(path, chunksize=chunk))

    model = SGDRegressor(
        penalty=None, learning_rate="constant", eta0=rate, fit_intercept=False, shuffle=False
    )
    for frame in chunks():
        y = frame.pop("y").to_numpy()
        model.partial_fit(frame.to_numpy(), y)
    print(json.dumps([time.perf_counter() - start, model.coef_.tolist()]))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
