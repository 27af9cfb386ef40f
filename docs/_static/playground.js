// The playground: recorded runs (playground-runs.js), round by round.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = { loss: "#3d8fc4", best: "#8f9aa5", bound: "#e08a2e", weight: "#4aa06a" };

function drawn(kind, attributes, text) {
  const found = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  if (text !== undefined) found.textContent = text;
  return found;
}

class Playground {
  constructor(place, runs) {
    this.place = place;
    this.runs = runs;
    this.timer = null;
    this.of = (name) => place.querySelector(`[data-part="${name}"]`);
    const learners = [...new Set(runs.map((run) => run.learner))];
    this.fill(this.of("learner"), learners);
    this.of("learner").addEventListener("change", () => this.choose());
    this.of("stream").addEventListener("change", () => this.start());
    this.of("round").addEventListener("input", () => { this.stop(); this.show(); });
    this.of("back").addEventListener("click", () => { this.stop(); this.step(-1); });
    this.of("on").addEventListener("click", () => { this.stop(); this.step(1); });
    this.of("play").addEventListener("click", () => this.toggle());
    this.choose();
    this.follow(new URLSearchParams(location.hash.slice(1)));
  }

  // playground.html#learner=Perceptron&round=8 shows that round.
  follow(asked) {
    for (const name of ["learner", "stream"]) {
      if (asked.has(name)) this.of(name).value = asked.get(name);
      if (name === "learner") this.choose();
      else this.start();
    }
    if (asked.has("round")) this.of("round").value = asked.get("round");
    this.show();
  }

  fill(select, names) {
    select.replaceChildren(...names.map((name) => new Option(name, name)));
  }

  choose() {
    const before = this.of("stream").value;
    const mine = this.runs.filter((run) => run.learner === this.of("learner").value);
    this.fill(this.of("stream"), mine.map((run) => run.stream));
    if (mine.some((run) => run.stream === before)) this.of("stream").value = before;
    this.start();
  }

  start() {
    this.stop();
    this.run = this.runs.find(
      (run) => run.learner === this.of("learner").value && run.stream === this.of("stream").value,
    );
    this.of("round").max = this.run.rounds.length;
    this.of("round").value = 1;
    this.show();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.of("play").textContent = "Play";
  }

  toggle() {
    if (this.timer !== null) return this.stop();
    if (Number(this.of("round").value) >= this.run.rounds.length) this.of("round").value = 0;
    this.of("play").textContent = "Pause";
    this.timer = setInterval(() => {
      if (!this.step(1)) this.stop();
    }, 200);
  }

  step(by) {
    const slider = this.of("round");
    const wanted = Number(slider.value) + by;
    if (wanted < 1 || wanted > this.run.rounds.length) return false;
    slider.value = wanted;
    this.show();
    return true;
  }

  show() {
    const at = Number(this.of("round").value);
    const [x, guess, y, weights, loss, best, measured, bound] = this.run.rounds[at - 1];
    const short = (value) => (value === null ? "none" : String(Number(value.toPrecision(3))));
    this.of("what").textContent =
      `Round ${at}: x = (${x.map(short).join(", ")}), prediction ${short(guess)}, outcome ${short(y)}.`;
    const regret = short(loss - best);
    this.of("figures").textContent =
      `Loss so far ${short(loss)}, best in hindsight ${short(best)}, regret ${regret}. ` +
      (bound === null
        ? `Theorem ${this.run.theorem}: no bound is claimed, as an assumption does not hold.`
        : `Theorem ${this.run.theorem}: ${this.run.quantity} ${short(measured)}, at most ${short(bound)}.`);
    this.lines(at);
    this.bars(weights);
  }

  lines(at) {
    const rounds = this.run.rounds;
    const columns = { bound: 7, best: 5, loss: 4 };
    // A bound is of the measured quantity; beside a loss it is drawn only where it is one.
    if (this.run.quantity !== "loss" && this.run.quantity !== "mistakes") delete columns.bound;
    const values = Object.values(columns).flatMap((k) => rounds.map((round) => round[k] ?? 0));
    const most = Math.max(...values, 1e-9);
    const chart = this.of("lines");
    const place = (t, value) => `${10 + (380 * t) / rounds.length},${150 - (140 * value) / most}`;
    const made = [drawn("line", { x1: 10, x2: 390, y1: 150, y2: 150, stroke: "#8f9aa566" })];
    for (const [name, k] of Object.entries(columns)) {
      const points = rounds.slice(0, at)
        .map((round, t) => (round[k] === null ? null : place(t + 1, round[k])))
        .filter((point) => point !== null);
      made.push(drawn("polyline", {
        points: [place(0, 0), ...points].join(" "), fill: "none", stroke: COLOURS[name], "stroke-width": 2,
        ...(name === "bound" ? { "stroke-dasharray": "6 4" } : {}),
      }));
    }
    Object.keys(columns).reverse().forEach((name, k) => {
      const words = { loss: "loss", best: "best in hindsight", bound: "bound" }[name];
      made.push(drawn("rect", { x: 10 + 120 * k, y: 162, width: 9, height: 9, rx: 2, fill: COLOURS[name] }));
      made.push(drawn("text", { x: 24 + 120 * k, y: 170, class: "words" }, words));
    });
    chart.replaceChildren(...made);
  }

  bars(weights) {
    const all = this.run.rounds.flatMap((round) => round[3]);
    const most = Math.max(...all.map(Math.abs), 1e-9);
    const low = Math.min(0, ...all) < 0;
    const zero = low ? 80 : 150;
    const height = low ? 65 : 135;
    const wide = 200 / weights.length;
    const made = [drawn("line", { x1: 5, x2: 205, y1: zero, y2: zero, stroke: "#8f9aa566" })];
    weights.forEach((weight, k) => {
      const tall = (height * Math.abs(weight)) / most;
      made.push(drawn("rect", {
        x: 10 + k * wide, width: Math.max(2, wide - 10), y: weight < 0 ? zero : zero - tall, height: tall,
        fill: COLOURS.weight,
      }));
    });
    made.push(drawn("text", { x: 10, y: 170, class: "words" }, "weights after the round"));
    this.of("bars").replaceChildren(...made);
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("playground");
  if (place !== null && window.playgroundRuns) window.playground = new Playground(place, window.playgroundRuns);
});
