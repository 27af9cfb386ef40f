// The playground: recorded runs (playground-runs.js), or live rounds against the reader (playground-live.js).
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = { loss: "#3d8fc4", best: "#8f9aa5", bound: "#d17d24", weight: "#4aa06a" };
const YOU = "you: choose each outcome";
const LIVE_ROUNDS = 60;

function drawn(kind, attributes, text) {
  const found = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  if (text !== undefined) found.textContent = text;
  return found;
}

const words = (x, y, text, anchor = "start") => drawn("text", { x, y, class: "words", "text-anchor": anchor }, text);
const tiny = (value) => (Math.abs(value) < 5e-5 ? 0 : Number(value.toPrecision(3)));
const short = (value) => (value === null ? "none" : String(tiny(value)).replace("-", "−"));

class Playground {
  constructor(place, runs, live) {
    Object.assign(this, { place, runs, live, timer: null });
    this.of = (name) => place.querySelector(`[data-part="${name}"]`);
    this.fill(this.of("learner"), [...new Set(runs.map((run) => run.learner))]);
    this.of("learner").addEventListener("change", () => this.choose());
    this.of("stream").addEventListener("change", () => this.start());
    this.of("round").addEventListener("input", () => { this.stop(); this.show(); });
    this.of("back").addEventListener("click", () => { this.stop(); this.step(-1); });
    this.of("on").addEventListener("click", () => { this.stop(); this.step(1); });
    this.of("play").addEventListener("click", () => this.toggle());
    for (const k of [0, 1]) this.of(`answer-${k}`).addEventListener("click", () => this.answer(k));
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
    const learner = this.of("learner").value;
    const streams = this.runs.filter((run) => run.learner === learner).map((run) => run.stream);
    if (this.live[learner]) streams.push(YOU);
    this.fill(this.of("stream"), streams);
    if (streams.includes(before)) this.of("stream").value = before;
    this.start();
  }

  start() {
    this.stop();
    const [learner, stream] = [this.of("learner").value, this.of("stream").value];
    const mine = stream === YOU;
    this.player = mine ? this.live[learner]() : null;
    this.run = mine
      ? { quantity: this.player.quantity, theorem: this.player.theorem, rounds: [] }
      : this.runs.find((run) => run.learner === learner && run.stream === stream);
    this.of("steps").hidden = mine;
    this.of("answers").hidden = !mine;
    if (mine) this.player.answers.forEach((each, k) => { this.of(`answer-${k}`).textContent = `Outcome ${short(each)}`; });
    this.of("round").max = Math.max(1, this.run.rounds.length);
    this.of("round").value = this.run.rounds.length;
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

  // A live round: the learner has predicted, the reader says what came.
  answer(which) {
    if (this.player === null || this.run.rounds.length >= LIVE_ROUNDS) return;
    const [x, y] = [this.player.offer(), this.player.answers[which]];
    const guess = this.player.predict(x);
    this.player.learn(x, y);
    this.run.rounds.push([x, guess, y, [...this.player.weights], ...this.player.figures()]);
    this.of("round").max = this.run.rounds.length;
    this.of("round").value = this.run.rounds.length;
    this.show();
  }

  show() {
    const at = this.run.rounds.length && Number(this.of("round").value);
    this.of("what").textContent = this.told(at);
    this.of("figures").textContent = at ? this.sums(at) : "";
    this.lines(at);
    const width = this.player ? this.player.weights.length : this.run.rounds[0][3].length;
    if (width === 2) this.plane(at);
    else this.bars(at ? this.run.rounds[at - 1][3] : this.player.weights);
  }

  told(at) {
    const vector = (x) => `(${x.map(short).join(", ")})`;
    const before = at ? this.run.rounds[at - 1] : null;
    const last = at ? `Round ${at}: x = ${vector(before[0])}, prediction ${short(before[1])}, outcome ${short(before[2])}.` : "";
    if (this.player === null) return last;
    if (at >= LIVE_ROUNDS) return `${last} That was the last round: choose a learner to begin again.`;
    const x = this.player.offer();
    return `${last} Round ${at + 1}: x = ${vector(x)}, prediction ${short(this.player.predict(x))}. What comes?`.trim();
  }

  sums(at) {
    const [, , , , loss, best, measured, bound] = this.run.rounds[at - 1];
    return `Loss so far ${short(loss)}, best in hindsight ${short(best)}, regret ${short(loss - best)}. ` + (bound === null
      ? `Theorem ${this.run.theorem}: no bound is claimed, as an assumption does not hold.`
      : `Theorem ${this.run.theorem}: ${this.run.quantity} ${short(measured)}, at most ${short(bound)}` +
        ` (${Math.floor((100 * measured) / bound)} % of the bound).`);
  }

  // The sums up to this round; the rounds to come are faint.
  lines(at) {
    const rounds = this.run.rounds;
    const columns = { bound: 7, best: 5, loss: 4 };
    // A bound is of the measured quantity; beside a loss it is drawn only where it is one.
    if (this.run.quantity !== "loss" && this.run.quantity !== "mistakes") delete columns.bound;
    const values = (names) => names.flatMap((name) => rounds.map((round) => round[columns[name]] ?? 0));
    const main = Math.max(...values(["loss", "best"]), 1e-9);
    const most = Math.min(Math.max(...values(Object.keys(columns)), main), 5 * main);
    const wide = this.player ? LIVE_ROUNDS : rounds.length;
    const place = (t, value) => `${34 + (356 * t) / wide},${150 - (136 * Math.min(value, 1.05 * most)) / most}`;
    const made = [
      drawn("line", { x1: 34, x2: 390, y1: 150, y2: 150, stroke: "#8f9aa566" }),
      drawn("line", { x1: 34, x2: 390, y1: 14, y2: 14, stroke: "#8f9aa533" }),
      words(30, 153, "0", "end"), words(30, 18, rounds.length ? short(most) : "", "end"), words(390, 162, `${wide} rounds`, "end"),
    ];
    for (const [name, k] of Object.entries(columns)) {
      const points = rounds.map((round, t) => (round[k] === null ? null : place(t + 1, round[k])));
      const line = (to, opacity) => drawn("polyline", {
        points: [place(0, 0), ...points.slice(0, to).filter((point) => point !== null)].join(" "),
        fill: "none", stroke: COLOURS[name], "stroke-width": 2, opacity, ...(name === "bound" ? { "stroke-dasharray": "6 4" } : {}),
      });
      made.push(line(rounds.length, 0.25), line(at, 1));
    }
    if (at) made.push(drawn("line", { x1: 34 + (356 * at) / wide, x2: 34 + (356 * at) / wide, y1: 14, y2: 150, stroke: "#8f9aa566" }));
    Object.keys(columns).reverse().forEach((name, k) => {
      const text = { loss: "loss", best: "best in hindsight", bound: "bound" }[name];
      const x = 34 + [0, 55, 175][k];
      made.push(drawn("rect", { x, y: 168, width: 9, height: 9, rx: 2, fill: COLOURS[name] }), words(x + 13, 176, text));
    });
    this.of("lines").replaceChildren(...made);
  }

  // Two weights: the examples in the plane, the path of the weights, and the best fixed ones.
  plane(at) {
    const rounds = this.run.rounds;
    const seen = rounds.slice(0, at);
    const u = seen.length ? ridge(seen.map(([x, , y]) => [x, y]), 1e-6) : [0, 0];
    const labels = this.run.quantity === "mistakes";
    const most = Math.max(1, ...rounds.flatMap((round) => round[3].map(Math.abs)), ...(labels ? [] : u.map(Math.abs)));
    const place = ([a, b]) => [105 + (70 * a) / most, 80 - (70 * b) / most];
    const made = [
      drawn("circle", { cx: 105, cy: 80, r: 70 / most, fill: "none", stroke: "#8f9aa566" }),
      drawn("line", { x1: 35, x2: 175, y1: 80, y2: 80, stroke: "#8f9aa533" }),
      drawn("line", { x1: 105, x2: 105, y1: 10, y2: 150, stroke: "#8f9aa533" }),
    ];
    seen.forEach(([x, , y], t) => {
      const [cx, cy] = place(x);
      made.push(drawn("circle", { cx, cy, r: t === at - 1 ? 4 : 2, fill: y > 0 ? COLOURS.loss : COLOURS.bound }));
    });
    const arrow = (to, colour, extra = {}) => {
      const [x2, y2] = place(to);
      made.push(drawn("line", { x1: 105, y1: 80, x2, y2, stroke: colour, "stroke-width": 2.5, ...extra }));
      made.push(drawn("circle", { cx: x2, cy: y2, r: 3, fill: colour }));
    };
    if (!labels && seen.length) arrow(u, COLOURS.best, { "stroke-dasharray": "4 3" });
    const path = [[0, 0], ...seen.map((round) => round[3])].map((each) => place(each).join(",")).join(" ");
    made.push(drawn("polyline", { points: path, fill: "none", stroke: COLOURS.weight, opacity: 0.5 }));
    arrow(seen.length ? seen[at - 1][3] : [0, 0], COLOURS.weight);
    made.push(drawn("rect", { x: 10, y: 168, width: 9, height: 9, rx: 2, fill: COLOURS.weight }), words(23, 176, "weights"));
    if (!labels) made.push(drawn("rect", { x: 80, y: 168, width: 9, height: 9, rx: 2, fill: COLOURS.best }), words(93, 176, "best fixed"));
    made.push(words(2, 163, "blue: outcome > 0, orange: < 0"));
    this.of("bars").replaceChildren(...made);
  }

  bars(weights) {
    const all = [...this.run.rounds.flatMap((round) => round[3]), ...weights];
    const most = Math.max(...all.map(Math.abs), 1e-9);
    const low = Math.min(0, ...all) < 0;
    const [zero, height] = low ? [80, 65] : [145, 130];
    const wide = 200 / weights.length;
    const made = [drawn("line", { x1: 5, x2: 205, y1: zero, y2: zero, stroke: "#8f9aa566" })];
    weights.forEach((weight, k) => {
      const tall = (height * Math.abs(weight)) / most;
      const y = weight < 0 ? zero : zero - tall;
      made.push(drawn("rect", { x: 10 + k * wide, width: Math.max(2, wide - 10), y, height: tall, fill: COLOURS.weight }));
      made.push(words(5 + (k + 0.5) * wide, 160, String(k + 1), "middle"));
    });
    made.push(words(10, 176, "weights after the round"));
    this.of("bars").replaceChildren(...made);
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("board");
  if (place !== null && window.playgroundRuns) {
    window.playground = new Playground(place, window.playgroundRuns, window.liveLearners);
  }
});
