"""The dashboard: one page that needs no other file and no other server."""

from __future__ import annotations

from noregret.app.report.page.style import DARK, LIGHT

STYLE = (
    f":root{{{LIGHT}}}@media(prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    """
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0;background:var(--paper);color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:20px}
form{margin:0}header{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:baseline}
h1{font-size:1.4rem;margin:0}h2{font-size:1rem;margin:0 0 6px}
#state{color:var(--soft)}#state.bad{color:var(--red)}
select,input,button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
  border-radius:6px;padding:2px 8px}
.cards{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}.cards>*{flex:1 1 max(140px,22%)}
.card,.chart,.wide{background:var(--card);border:1px solid var(--line);border-radius:10px;
  padding:12px 14px;min-width:0}
.card b{display:block;font-size:1.5rem;font-variant-numeric:tabular-nums}
.card span,.chart p{color:var(--soft);font-size:.85rem;margin:0}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:12px}
svg{display:block;width:100%;height:150px}
.wide{margin-top:12px;overflow-x:auto}.wide p{margin:0 0 6px;color:var(--soft);font-size:.85rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
td,th{text-align:right;padding:3px 8px;white-space:nowrap;border-top:1px solid var(--line)}
th{color:var(--soft);font-weight:500;border:0}td:first-child,th:first-child{text-align:left;white-space:normal}
a{color:var(--blue)}code{font-size:.85em;overflow-wrap:anywhere}
"""
)
SCRIPT = """
const $ = id => document.getElementById(id), F = {time: 0};
["predictions", "labels", "pending", "loss", "late_labels", "delay", "mistakes"]
  .forEach((name, k) => F[name] = k + 1);
let samples = [], reading = null, last = null, facts = {};
const number = v => v == null || !isFinite(v) ? "–" :
  Math.abs(v) >= 1000 || Number.isInteger(v) ? Math.round(v).toLocaleString("en") :
  v.toPrecision(3);
// Labels of an axis are round numbers: no more digits than they have.
const tick = v => v >= 1e6 || (v && v < 1e-4) ? v.toExponential(0) :
  Number(v.toPrecision(6)).toLocaleString("en", {maximumFractionDigits: 6});
function node(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
function card(value, words) {
  const made = node("div", "");
  made.className = "card";
  made.append(node("b", value), node("span", words));
  return made;
}
function table(place, head, rows) {
  $(place).hidden = !rows.length;
  const made = node("table", ""), top = node("tr", "");
  head.forEach(text => top.append(node("th", text)));
  made.append(top);
  for (const row of rows) {
    const line = node("tr", "");
    row.forEach(text => line.append(node("td", text)));
    made.append(line);
  }
  $(place).querySelector("table").replaceWith(made);
}
// The change of one figure per unit of another between samples, or a figure itself.
function series(figure, per) {
  const found = [];
  for (let k = per ? 1 : 0; k < samples.length; k++) {
    const now = samples[k], before = samples[k - 1];
    if (!per) found.push([now[0], now[F[figure]]]);
    else {
      const by = now[F[per]] - before[F[per]];
      const more = now[F[figure]] - before[F[figure]];
      if (by > 0 && now[F[figure]] != null && before[F[figure]] != null)
        found.push([now[0], more / by]);
    }
  }
  return found;
}
// The distance between labels of an axis: 1, 2 or 5 times a power of ten, two or three of them.
function step(most, whole) {
  const base = 10 ** Math.floor(Math.log10(most / 3));
  const found = base * [1, 2, 5, 10].find(times => 3 * times * base >= most * (1 - 1e-9));
  return whole ? Math.max(1, found) : found;
}
// A time in words, and a loss as the figure that people know: RMSE for the square loss.
const span = s => s < 90 ? Math.round(s) + " s" : s < 5400 ? Math.round(s / 60) + " min" :
  s < 129600 ? Math.round(s / 3600) + " h" : Math.round(s / 86400) + " days";
const shown = (loss, now) => now.rmse == null ? loss : Math.sqrt(loss);
// The error over the last tenth of the labels on this page, divided by that of the 40 % before.
function change(now) {
  const last = samples.at(-1), count = last[F.labels] - samples[0][F.labels];
  const at = share => samples.findLast(each => each[F.labels] <= last[F.labels] - share * count);
  const first = at(.5), middle = at(.1);
  if (!middle || middle[F.labels] - first[F.labels] < 50) return null;
  const mean = (from, to) => (to[F.loss] - from[F.loss]) / (to[F.labels] - from[F.labels]);
  const before = shown(mean(first, middle), now);
  return before > 0 ? shown(mean(middle, last), now) / before : null;
}
const clock = t => new Date(t * 1000).toTimeString().slice(0, 8);
function draw(id, lines, none, whole) {
  const svg = $(id), wide = svg.clientWidth || 320, high = 150, left = 46, under = 18;
  const all = lines.flatMap(line => line.points);
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  if (!all.length) {
    svg.innerHTML = `<text x="${wide / 2}" y="${high / 2}" text-anchor="middle" font-size="13"` +
      ` fill="var(--soft)">${none}</text>`;
    return;
  }
  const from = samples[0][0], to = Math.max(samples.at(-1)[0], from + 1);
  const most = Math.max(...all.map(p => p[1])) || 1, by = step(most, whole);
  const count = Math.ceil(most / by - 1e-9), top = by * count;
  const x = t => left + (t - from) / (to - from) * (wide - left - 6);
  const y = v => high - under - v / top * (high - under - 8);
  let out = "";
  for (let k = 0; k <= count; k++) {
    const v = by * k;
    out += `<line x1="${left}" x2="${wide}" y1="${y(v)}" y2="${y(v)}" stroke="var(--line)"/>` +
      `<text x="${left - 6}" y="${y(v) + 4}" text-anchor="end" font-size="11"` +
      ` fill="var(--soft)">${tick(v)}</text>`;
  }
  out += `<text x="${left}" y="${high - 3}" font-size="11"` +
    ` fill="var(--soft)">${clock(from)}</text>` +
    `<text x="${wide - 4}" y="${high - 3}" text-anchor="end" font-size="11"` +
    ` fill="var(--soft)">${clock(to)}</text>`;
  for (const line of lines)
    if (line.points.length == 1)
      out += `<circle r="3" fill="${line.colour}" cx="${x(line.points[0][0]).toFixed(1)}"` +
        ` cy="${y(line.points[0][1]).toFixed(1)}"/>`;
    else
      out += `<polyline fill="none" stroke="${line.colour}" stroke-width="1.8"` +
        ` stroke-dasharray="${line.dash || ""}"` +
        ` points="${line.points.map(
          p => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1)).join(" ")}"/>`;
  svg.innerHTML = out;
}
function regret(now) {
  const found = now.standing;
  if (found.regret == null) return found.why ? [card("–", "regret: " + found.why)] : [];
  const by = found.best > 0 ? ", by " + percent(Math.abs(found.regret) / found.best) : "";
  return [card(number(found.regret), "regret: " + (found.regret < 0 ? "less" : "more") +
    " loss than the best in hindsight" + by + ", at label " + number(found.labels))];
}
function drift(now) {
  const found = change(now);
  return found == null ? [] :
    [card(found.toFixed(2) + " ×", "drift: the latest error, as a multiple of the earlier one")];
}
// The share of right predictions since the first sample that has counted them.
function accuracy() {
  const first = samples.find(each => each[F.mistakes] != null), last = samples.at(-1);
  const labels = first ? last[F.labels] - first[F.labels] : 0;
  return labels ? 1 - (last[F.mistakes] - first[F.mistakes]) / labels : null;
}
const percent = share => share == null ? "–" : (100 * share).toFixed(1) + "%";
function show(now) {
  last = now;
  $("charts").hidden = false;
  const late = now.late_labels, share = percent(now.labels ? late / now.labels : null);
  const refused = Object.values(now.refused).reduce((a, b) => a + b, 0);
  $("cards").replaceChildren(
    card(number(now.predictions), "predictions"), card(number(now.labels), "labels learned"),
    card(number(now.pending), "pending labels" + (!now.waiting ? "" :
      ": the oldest for " + span(now.waiting[0]) + ", half for " + span(now.waiting[1]))),
    now.mistakes != null ? card(percent(accuracy()), "accuracy of all served predictions") :
    now.rmse == null ? card(number(now.mean_loss), "mean loss of all served predictions")
                     : card(number(now.rmse), "RMSE of all served predictions"),
    ...regret(now), ...drift(now),
    card(number(late), (late == 1 ? "label" : "labels") + " came late" +
      (share == "–" || share == "0.0%" ? "" : ", " + share)),
    card(number(refused), "requests refused"));
  $("learner").textContent = now.learner;
  draw("requests", [
    {points: series("predictions", "time"), colour: "var(--blue)"},
    {points: series("labels", "time"), colour: "var(--orange)", dash: "5 3"}], "no data yet");
  const wrong = now.mistakes == null ? [] : series("mistakes", "labels");
  $("losses-title").textContent = now.mistakes != null ? "Accuracy" : now.rmse != null ? "RMSE" :
    "Mean loss";
  draw("losses", [{points: now.mistakes != null ? wrong.map(p => [p[0], 1 - p[1]]) :
    series("loss", "labels").map(p => [p[0], shown(p[1], now)]), colour: "var(--green)"}],
    samples.length ? "no labels since " + clock(samples[0][0]) : "no data yet");
  draw("pending", [{points: series("pending"), colour: "var(--violet)"}], "no data yet", true);
  const found = now.found.members || [];
  $("words").textContent = now.found.words || "";
  table("members", ["member", "weight", "mean loss"], found.map(m =>
    [m[0], percent(m[1]), number(m[2])]));
  table("challengers", ["challenger", "labels", "mean loss", "that of " + now.serving,
    "p better", "p worse"], Object.entries(now.challengers).map(([name, c]) =>
    [name, number(c.rounds), number(c.challenger), number(c.champion), number(c.p_better),
     number(c.p_worse)]));
  table("keys", ["key", "predictions", "labels", "mean loss"], now.keys.map(k =>
    [k.key, number(k.predictions), number(k.labels), number(k.mean_loss)]));
  $("state").textContent = now.stopped ? "stopped: " + now.stopped : "live";
  $("state").className = now.stopped ? "bad" : "";
}
// The key is kept in this page only: another one, or this one loaded again, asks for it.
let key = "";
const ask = (path, more) =>
  fetch(path, {...more, headers: key ? {Authorization: "Bearer " + key} : {}});
async function begin() {
  try {
    const answer = await ask("models");
    const found = await answer.json();
    $("sign-in").hidden = answer.status != 401;
    if (answer.status == 401) {
      $("state").textContent = key ? found.detail : "this server needs a key";
      $("state").className = key ? "bad" : "";
      key = "";
      return;
    }
    if (!answer.ok) throw new Error(found.detail);
    facts = found;
    $("model").replaceChildren(...Object.keys(found).map(name => new Option(name)));
    $("model").hidden = false;
    watch();
  } catch (error) {
    $("state").textContent = "not connected: " + error.message;
    $("state").className = "bad";
    setTimeout(begin, 2000);
  }
}
async function watch() {
  if (reading) reading.abort();
  const mine = reading = new AbortController(), name = $("model").value;
  const here = "models/" + encodeURIComponent(name);
  samples = [], last = null;
  $("learner").textContent = facts[name].learner; // until the first figures come
  $("cards").replaceChildren(card(number(facts[name].rounds), "labels learned"),
    card(number(facts[name].pending), "pending labels"));
  $("report").hidden = Boolean(key); // a link sends no key
  $("report").href = here + "/report";
  try {
    const answer = await ask(here + "/watch", {signal: mine.signal});
    if (answer.status == 401 || answer.status == 403) $("sign-in").hidden = false;
    if (!answer.ok) throw new Error((await answer.json()).detail);
    $("state").textContent = "waiting for the first figures";
    $("state").className = "";
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const {value, done} = await reader.read();
      if (done) throw new Error("the server closed the connection");
      text += value;
      const parts = text.split("\\n\\n");
      text = parts.pop();
      for (const part of parts) {
        const found = JSON.parse(part.slice(6));
        samples = samples.concat(found.samples).slice(-1200);
        if (found.now.refused) show(found.now);
      }
    }
  } catch (error) {
    if (mine.signal.aborted) return;
    $("state").textContent = "not connected: " + error.message;
    $("state").className = "bad";
    if ($("sign-in").hidden) setTimeout(() => mine === reading && watch(), 2000);
  }
}
$("model").onchange = watch;
$("sign-in").onsubmit = event => {
  event.preventDefault();
  key = $("key").value.trim();
  $("key").value = "";
  begin();
};
addEventListener("resize", () => last && show(last));
begin();
"""
CHARTS = (
    ("requests", "Requests per second", "solid: predictions; dashed: labels"),
    ("losses", "Mean loss", "of labels since the previous point"),
    ("pending", "Pending labels", "predictions that wait for their label"),
)


def dashboard() -> str:
    """Return the page, which is the same for every server."""
    charts = "".join(
        f'<div class="chart"><h2 id="{name}-title">{title}</h2><p>{words}</p>'
        f'<svg id="{name}" role="img" aria-label="{title}"></svg></div>'
        for name, title, words in CHARTS
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport"'
        ' content="width=device-width,initial-scale=1"><title>noregret</title>'
        f"<style>{STYLE}</style><main><header><h1>noregret</h1>"
        '<select id="model" aria-label="Model" hidden></select><span id="state">connecting</span>'
        '<form id="sign-in" hidden><input id="key" type="password" autocomplete="off" required'
        ' placeholder="API key" aria-label="API key"> <button>Sign in</button></form>'
        '<a id="report" hidden>Report</a> <a href="api">API</a></header>'
        '<p><code id="learner"></code></p>'
        f'<div class="cards" id="cards"></div><div class="charts" id="charts" hidden>{charts}</div>'
        '<div class="wide" id="members" hidden><h2>Members</h2><p id="words"></p><table></table>'
        "</div>"
        '<div class="wide" id="challengers" hidden><h2>Challengers</h2><table></table></div>'
        '<div class="wide" id="keys" hidden><h2>Keys</h2><table></table></div></main>'
        f"<script>{SCRIPT}</script>"
    )
