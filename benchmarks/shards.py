"""The cost of sharding in regret: ``Vaw`` on 1, 8 and 64 shards of the same 40,000 rows.

Every shard learns from nothing, so the regret against the best predictor for all rows grows about
as fast as the number of shards. The figures are losses, not times: they do not depend on the
machine.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks._harness import Row
from noregret import Vaw
from noregret.proof.game.shards import Sharded, play_shards
from noregret.proof.record.parts_digest import Part

PACKAGES = ("numpy",)
ROWS, FEATURES, SHARDS = 40_000, 20, (1, 8, 64)


def run(quick: bool) -> Iterator[Row]:
    rows = ROWS // 10 if quick else ROWS
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, FEATURES))
    y = X @ rng.normal(size=FEATURES) + rng.normal(size=rows)
    alone = 0.0
    for shards in SHARDS:
        ends = [k * rows // shards for k in range(shards + 1)]
        parts = [Part(ends[k + 1] - ends[k], "") for k in range(shards)]
        certificate = play_shards(Sharded(Vaw()), parts, X, y).certificate()
        assert certificate.theorem is not None
        assert certificate.theorem.holds
        work = f"vaw on {shards} shard{'s' * (shards > 1)}, {rows:,} × {FEATURES}"
        regret, bound = certificate.regret.upper, certificate.theorem.bound
        alone = alone or regret
        allowed = f"loss {certificate.loss.total:,.0f}, at most {bound:,.0f} by the theorem"
        yield Row(work, f"regret {regret:,.0f}", allowed, f"{regret / alone:.1f}× that of one")
