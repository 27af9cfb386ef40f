// Two learners that play against the reader. Tests compare them with runs of noregret itself.
"use strict";

const dot = (a, b) => a.reduce((sum, each, k) => sum + each * b[k], 0);

// The u with the least Σ (u·x − y)² + penalty ‖u‖², for rows of two numbers.
function ridge(rows, penalty) {
  let [a, b, c, p, q] = [penalty + 1e-9, 0, penalty + 1e-9, 0, 0];
  for (const [x, y] of rows) {
    a += x[0] * x[0];
    b += x[0] * x[1];
    c += x[1] * x[1];
    p += x[0] * y;
    q += x[1] * y;
  }
  const whole = a * c - b * b;
  return [(c * p - b * q) / whole, (a * q - b * p) / whole];
}

const squares = (rows, u) => rows.reduce((sum, [x, y]) => sum + (dot(u, x) - y) ** 2, 0);

class LiveWidrowHoff {
  constructor(rate) {
    Object.assign(this, { rate, weights: [0, 0], rows: [], loss: 0 });
    Object.assign(this, { quantity: "loss", theorem: "widrow-hoff", answers: [-1, 1] });
  }

  // Directions that turn by the golden angle.
  offer() {
    const turn = 2.4 * this.rows.length;
    return [Math.cos(turn), Math.sin(turn)];
  }

  predict(x) { return dot(this.weights, x); }

  learn(x, y) {
    const error = this.predict(x) - y;
    this.loss += error * error;
    this.weights = this.weights.map((each, k) => each - this.rate * error * x[k]);
    this.rows.push([x, y]);
  }

  figures() {
    const penalty = (1 - this.rate) / this.rate;
    const u = ridge(this.rows, penalty);
    const bound = squares(this.rows, u) / (1 - this.rate) + dot(u, u) / this.rate;
    return [this.loss, squares(this.rows, ridge(this.rows, 0)), this.loss, bound];
  }
}

class LiveWeightedMajority {
  constructor(beta) {
    Object.assign(this, { beta, weights: [0.25, 0.25, 0.25, 0.25], wrong: [0, 0, 0, 0] });
    Object.assign(this, { loss: 0, rounds: 0 });
    Object.assign(this, { quantity: "mistakes", theorem: "weighted-majority", answers: [0, 1] });
  }

  // Advice that splits the experts in every round, in another way each time.
  offer() { return [[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1]][this.rounds % 5]; }

  predict(x) { return dot(this.weights, x) >= 0.5 - 1e-12 ? 1 : 0; }

  learn(x, y) {
    this.loss += this.predict(x) === y ? 0 : 1;
    this.weights = this.weights.map((each, k) => (x[k] === y ? each : this.beta * each));
    this.wrong = this.wrong.map((each, k) => each + (x[k] === y ? 0 : 1));
    const total = this.weights.reduce((a, b) => a + b);
    this.weights = this.weights.map((each) => each / total);
    this.rounds += 1;
  }

  figures() {
    const best = Math.min(...this.wrong);
    const bound = (Math.log(1 / this.beta) * best + Math.log(4)) / Math.log(2 / (1 + this.beta));
    return [this.loss, best, this.loss, bound];
  }
}

window.liveLearners = {
  "Widrow–Hoff, rate 0.1": () => new LiveWidrowHoff(0.1),
  "Widrow–Hoff, rate 0.3": () => new LiveWidrowHoff(0.3),
  "Widrow–Hoff, rate 0.9": () => new LiveWidrowHoff(0.9),
  "Weighted majority": () => new LiveWeightedMajority(0.5),
};
