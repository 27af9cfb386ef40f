"""The bank behind ``auto``: what it has found, and how it is kept."""

from libc.math cimport sqrt

import numpy as np

cimport numpy as cnp

from noregret.core.engine cimport Engine
from noregret.core.floors cimport FULL, LAGGED, LOGISTIC, NUMBERS, SNAPSHOTS
from noregret.core.teaching cimport Teaching
from noregret.core.weigher cimport Weigher

from noregret.core.paged import all_finite, copied, zeros

cnp.import_array()

PARTS = ("plain", "lagged", "combining", "following", "seeing", "among_base", "tracker", "leaner", "final")


cdef class Bank(Teaching):
    """Learners of every speed, and the mixture of them; the parameters are those of the floors."""

    # What it has found.

    @property
    def engine_is_full(self):
        """Whether filters are at work: features are few enough."""
        return bool(self.is_full())

    def member_weights(self):
        """Return the weight of every member in the next round."""
        return np.array([self.weight_of(k) for k in range(self.members)])

    def history(self):
        """Return (rounds, the weights of every member after them), about a hundred of each."""
        width = self.members + 1
        table = self.arrays["snapshots"][:self.taken * width].reshape(self.taken, width)
        return table[:, 0].astype(np.int64), table[:, 1:].copy()

    @property
    def first_loss(self):
        """What the first round cost everyone, before anything was known."""
        return self.opening

    def member_losses(self):
        """Return what every member has lost, and the two mixtures that are weighed beside them."""
        return self.total_loss + self.excess()

    def excess(self):
        """Return what everyone has lost more than the mixture."""
        return self.final.excess() - self.arrays["beyond"]

    def accounts(self):
        """Return what the promise needs: what everyone lost more than the mixture, and the price of each."""
        prior = -np.log(self.final.get_state()[0]["prior"])
        if self.kind != LOGISTIC:
            log_n = self.final.rate
            prior = (1 + prior / log_n) * (self.final.spreads * sqrt(log_n) / 2 + self.widest * (2.0 / 3 * log_n + 1))
            prior += np.maximum(0.0, self.arrays["beyond"])
        return {"excess": self.excess()[:self.members], "price": prior[:self.members]}

    def influence(self):
        """Return how far each feature moves the prediction of ``weights``, as it varies."""
        table, seen = self.features_seen()
        count, total, squares = table[seen, 16:19].T
        rounds = max(1, self.rounds)
        spread = np.maximum(0.0, squares / rounds - (total / rounds) ** 2)
        found = zeros(self.size)
        found[seen] = np.abs(self.weights()[seen]) * np.sqrt(spread)
        return found

    def features_seen(self):
        """Return the table of all features but the constant one, and which of them were ever present."""
        table = self.arrays["features"][NUMBERS:(self.size + 1) * NUMBERS].reshape(-1, NUMBERS)
        return table, np.flatnonzero(table[:, 16] > 0)

    def weights(self):
        """Return a plain linear predictor: the filter that forgets nothing, or its diagonal form.

        What is constant in it goes to the first feature that is, such as the intercept of a stream.
        """
        table, seen = self.features_seen()
        if self.is_full():
            own = self.plain.weights(0 if self.kind == LOGISTIC else 1, 0)
            constant, found = own[0], own[1:]
        else:
            constant, found = self.features.weight[4], zeros(self.size)
            found[seen] = table[seen, 4]
        count, total, squares = table[seen, 16:19].T
        same = np.flatnonzero((count == self.rounds) & (squares * count <= total * total * (1 + 1e-12)))
        if len(same):
            found[seen[same[0]]] += (self.origin + constant) * self.rounds / total[same[0]]
        return found

    @property
    def linear(self):
        """Whether predictions are weights times features."""
        return False

    def advice(self, norm):
        """Say what to change when numbers become too large."""
        return "scale the outcomes or the importances down"

    @property
    def takes_importance(self):
        """Whether a round may stand for several."""
        return True

    # The state: that of the engine, and of every part under its name.

    def parts(self):
        """Return everything that keeps a state of its own, by name."""
        return {name: getattr(self, name) for name in PARTS}

    def outlook(self):
        """Return what is known of the outcomes, in the order in which a state holds it."""
        return [
            self.origin, self.low, self.high, self.mean, self.deviation, self.error, self.sizes, self.widest, self.opening, self.streak,
            self.averages[0], self.averages[1], self.averages[2], self.averages[3],
        ]

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        own = Engine.scalars(self) | {"stride": self.stride, "taken": self.taken}
        for name, part in self.parts().items():
            own |= {f"{name}.{key}": value for key, value in part.get_state()[1].items()}
        return own

    def get_state(self):
        """Return (arrays, numbers): all that prediction and learning depend on."""
        arrays = {name: array.copy() for name, array in self.arrays.items() if name not in ("stored", "features")}
        arrays["features"] = copied(self.arrays["features"][:(self.size + 1) * NUMBERS])
        arrays["outlook"] = np.array(self.outlook())
        for name, part in self.parts().items():
            arrays |= {f"{name}.{key}": array for key, array in part.get_state()[0].items()}
        return arrays, self.scalars()

    def set_state(self, arrays, numbers):
        """Take a state over, or raise ValueError where it does not fit, and then stay as before."""
        before = self.get_state()
        try:
            self.take(arrays, numbers)
        except ValueError:
            self.take(*before)
            raise

    def own_sizes(self, size):
        """Return how many numbers each array of its own holds, for so many features."""
        return {"features": (size + 1) * NUMBERS, "outcomes": self.ring, "foreseen": self.ring, "beyond": self.members + self.mixers,
                "snapshots": SNAPSHOTS * (self.members + 1), "outlook": 14}

    def take(self, arrays, numbers):
        """Have this state."""
        size, taken = numbers["size"], numbers["taken"]
        if numbers["mean_kept"] or not 0 <= taken <= SNAPSHOTS or numbers["stride"] < 1:
            raise ValueError("the state's numbers make no sense")
        sizes = self.own_sizes(size)
        own = {name: array for name, array in arrays.items() if "." not in name}
        if own.keys() != sizes.keys():
            raise ValueError(f"expected the arrays {sorted(sizes)}, got {sorted(own)}")
        for name, array in own.items():
            if array.shape != (sizes[name],) or array.dtype != np.float64:
                raise ValueError(f"array {name} should hold {sizes[name]} numbers of type float64")
            if not all_finite(array):
                raise ValueError(f"array {name} holds a number that is not finite")
        if max(np.abs(own[name]).max(initial=0.0) for name in ("outcomes", "foreseen")) > 1e150:
            raise ValueError("the state holds outcomes that nobody can have seen")
        table = own["features"].reshape(-1, NUMBERS)
        sums_of_squares = [at for at in range(8, NUMBERS) if at != 17]  # all but the sum of the values
        if any((table[:, at] < 0).any() for at in sums_of_squares) or not table[0, 16] > 0:
            raise ValueError("array features holds a negative sum of squares or variance")
        self.take_parts(arrays, numbers)
        self.arrays = {"stored": zeros(size)} | {
            name: copied(array) for name, array in own.items() if name != "outlook"}
        self.size, self.taken, self.stride = size, taken, numbers["stride"]
        self.relocate()
        outlook = own["outlook"].tolist()
        self.origin, self.low, self.high, self.mean, self.deviation, self.error, self.sizes, self.widest, self.opening, self.streak = outlook[:10]
        self.averages[0], self.averages[1], self.averages[2], self.averages[3] = outlook[10:]
        self.restore({name: value for name, value in numbers.items() if "." not in name})

    def take_parts(self, arrays, numbers):
        """Have every part go on from its own part of a state."""
        size = numbers["size"]
        widths = {"plain": size + 1 if size <= FULL else None, "lagged": size + 3 if size <= LAGGED else None,
                  "combining": 5, "following": 6, "seeing": 12, "among_base": self.base_members,
                  "tracker": self.members, "leaner": self.members, "final": self.members + self.mixers}
        for name, part in self.parts().items():
            start = f"{name}."
            kept = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
            part.set_state(kept, {key.removeprefix(start): n for key, n in numbers.items() if key.startswith(start)})
            if widths[name] is not None and part.n != widths[name]:
                raise ValueError(f"{name} should have {widths[name]} inputs: got {part.n}")
            if isinstance(part, Weigher):
                (<Weigher> part).next_weights()
