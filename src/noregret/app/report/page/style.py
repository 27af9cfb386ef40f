"""The style sheet of the page: light, dark, on a phone, in print.

Colours are named once for light and once for dark. Those of curves are of Okabe and Ito's palette,
which people with any kind of colour vision can tell apart, and dashes tell them apart as well.
"""

from __future__ import annotations

LIGHT = """
  --paper: #ffffff; --card: #f6f7f9; --ink: #16191d; --soft: #5a6470; --line: #dfe3e8;
  --grid: #eceff2; --blue: #0067a8; --orange: #c04f00; --green: #00795a; --violet: #7a4a9e;
  --red: #b42318; --good: #17693a; --good-paper: #e7f4ec; --bad-paper: #fdecea;
  --open-paper: #f2ecf8; color-scheme: light;
"""
DARK = """
  --paper: #14171b; --card: #1c2026; --ink: #e9ecef; --soft: #a1abb6; --line: #333a43;
  --grid: #262c33; --blue: #5bb8f0; --orange: #f0a13c; --green: #36c79a; --violet: #c6a1e6;
  --red: #ff8a7d; --good: #6fd39a; --good-paper: #183325; --bad-paper: #402120;
  --open-paper: #2d2438; color-scheme: dark;
"""
TEXT = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
main { max-width: 1040px; margin: 0 auto; padding: 28px 28px 72px; }
h1 { font-size: clamp(1.55rem, 4.4vw, 2.5rem); line-height: 1.15; letter-spacing: -0.02em;
  font-weight: 700; margin: 20px 0 18px; text-wrap: balance; }
h2 { font-size: 1.3rem; letter-spacing: -0.01em; margin: 0 0 18px; }
h3 { font-size: 1rem; margin: 0; }
p { margin: 0 0 12px; }
section { margin-top: 56px; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 0.88em; }
.number, .figure, .ticks, .key b { font-variant-numeric: tabular-nums; }
.top { display: flex; justify-content: space-between; align-items: center; min-height: 36px; }
.brand { margin: 0; font-weight: 700; letter-spacing: -0.01em; color: var(--soft); }
button { font: inherit; font-size: 0.85rem; color: var(--ink); background: var(--card);
  border: 1px solid var(--line); border-radius: 999px; padding: 4px 14px; cursor: pointer; }
button:hover, button:focus-visible { border-color: var(--soft); }
.stopped { background: var(--bad-paper); color: var(--red); border-radius: 10px;
  padding: 12px 16px; }
.verdict-mark { margin: 0 0 10px; }
.badge { display: inline-block; border-radius: 999px; padding: 3px 14px; font-size: 0.78rem;
  font-weight: 700; letter-spacing: 0.05em; }
.badge.good { color: var(--good); background: var(--good-paper); }
.badge.bad { color: var(--red); background: var(--bad-paper); }
.badge.open { color: var(--violet); background: var(--open-paper); }
.badge.poor { color: var(--orange); background: var(--card); }
.badge.neutral { color: var(--soft); background: var(--card); }
.badge + .badge { margin-left: 8px; }
.verdict { font-size: 1.15rem; max-width: 46em; margin-bottom: 28px; }
.aside, .note, figcaption p, .digest { color: var(--soft); }
.tiles { display: flex; flex-wrap: wrap; gap: 1px;
  background: var(--line); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.tile { background: var(--paper); padding: 16px 18px;
  flex: 1 1 calc(100% / var(--columns) - 2px); }
@media (max-width: 900px) { .tile { flex-basis: 28%; } }
.label, .words { font-size: 0.82rem; color: var(--soft); line-height: 1.35; }
.figure { font-size: 1.38rem; font-weight: 650; letter-spacing: -0.02em; margin: 3px 0;
  overflow-wrap: normal; }
.unit { font-size: 0.72em; font-weight: 600; }
.tile.good .figure { color: var(--good); }
.tile.bad .figure { color: var(--red); }
.tile.neutral .figure { color: var(--soft); }
.tile.open .figure { color: var(--violet); }
"""
CHARTS = """
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr));
  gap: 40px 36px; }
.chart { margin: 0; min-width: 0; break-inside: avoid; }
.pair .chart { display: grid; grid-template-rows: subgrid; grid-row: span 3; row-gap: 0;
  grid-template-columns: minmax(0, 1fr); }
.chart figcaption { margin-bottom: 14px; }
figcaption p { font-size: 0.88rem; margin: 2px 0 8px; line-height: 1.45; }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0; padding: 0;
  font-size: 0.85rem; }
.key li { display: flex; align-items: center; gap: 7px; }
.plot { position: relative; padding-right: 10px; }
.plot svg { display: block; }
.plot > svg { overflow: visible; }
.plot > svg > svg { overflow: hidden; }
.axis-y { font-size: 0.75rem; color: var(--soft); margin-bottom: 6px; }
.axis-x { font-size: 0.75rem; color: var(--soft); text-align: right; padding: 22px 10px 0 0; }
.ticks text { fill: var(--soft); font-size: 12px; }
.ticks .up { text-anchor: end; }
.grid line { stroke: var(--grid); }
.grid line.axis, line.axis { stroke: var(--soft); stroke-opacity: 0.6; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.learner { stroke: var(--blue); stroke-width: 2.5; }
.constant { stroke: var(--orange); stroke-dasharray: 7 5; stroke-linecap: butt; }
.hindsight { stroke: var(--green); stroke-dasharray: 2 4; }
.bound { stroke: var(--violet); stroke-dasharray: 9 3 2 3; stroke-linecap: butt; }
.level { stroke: var(--soft); stroke-dasharray: 5 5; stroke-width: 1.3; }
.column, .cells { fill: var(--blue); }
.column { stroke: var(--paper); stroke-width: 1; }
.column:hover, .cells rect:hover { fill: var(--orange); }
.dot { fill: var(--blue); fill-opacity: 0.85; stroke: var(--paper); }
.plus { fill: var(--blue); }
.minus { fill: var(--orange); }
.note { font-size: 0.85rem; margin: 10px 0 0; }
.cross { position: absolute; top: 0; width: 0; border-left: 1px solid var(--soft);
  pointer-events: none; }
.tip { position: absolute; top: 6px; pointer-events: none; background: var(--paper);
  border: 1px solid var(--line); border-radius: 8px; padding: 7px 11px; font-size: 0.8rem;
  box-shadow: 0 4px 16px rgba(0, 0, 0, 0.14); white-space: nowrap; line-height: 1.5;
  font-variant-numeric: tabular-nums; }
.tip b { display: block; }
"""
TABLES = """
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 7px 16px 7px 0; font-weight: 400; }
tr { border-top: 1px solid var(--line); }
thead tr, tbody:first-child tr:first-child { border-top: 0; }
thead th, .sheet th, dt { color: var(--soft); font-size: 0.88rem; }
.number { text-align: right; font-weight: 600; white-space: nowrap; }
thead .number { font-weight: 400; }
.promise { border-left: 4px solid var(--violet); background: var(--card); padding: 16px 20px;
  border-radius: 0 10px 10px 0; margin-bottom: 20px; break-inside: avoid; }
table + .promise { margin-top: 28px; }
.promise p { margin: 0 0 6px; }
.promise.good { border-color: var(--good); }
.promise.bad { border-color: var(--red); }
.promise.neutral { border-color: var(--line); }
.theorem { color: var(--soft); font-size: 0.92rem; }
.promise p:last-child { margin: 0; }
.meter { height: 7px; border-radius: 4px; background: var(--line); margin: 8px 0 12px; }
.meter div { height: 7px; border-radius: 4px; background: var(--violet); }
.good .meter div { background: var(--good); }
.bad .meter div { background: var(--red); }
.neutral .meter div { background: var(--soft); }
.sheet th { white-space: nowrap; padding-right: 28px; }
.sheet td:last-child { width: 99%; }
.assumptions { margin-top: 26px; }
.assumptions tbody th { width: 60%; }
.assumptions td:last-child { white-space: nowrap; }
.held { color: var(--good); }
.failed { color: var(--red); font-weight: 700; }
.trust { color: var(--violet); }
.digest { font-size: 0.82rem; margin: 18px 0 0; }
.weights { table-layout: fixed; }
.weights tr { border: 0; }
.weights th { width: 34%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  padding: 3px 14px 3px 0; }
.weights td { padding: 3px 0; vertical-align: middle; }
.weights .number { width: 7.2em; overflow: hidden; text-overflow: ellipsis; }
.weights svg { display: block; }
.confusion { table-layout: fixed; font-variant-numeric: tabular-nums; }
.confusion tr { border: 0; }
.confusion thead td { width: 5.2em; }
.confusion thead th { text-align: center; }
.confusion th { color: var(--soft); font-size: 0.88rem; vertical-align: middle; padding: 6px 8px; }
.confusion tbody td { border: 4px solid var(--paper); border-radius: 12px; padding: 26px 14px;
  text-align: center; background: color-mix(in srgb, var(--tone) var(--part), var(--card)); }
.confusion .right { --tone: color-mix(in srgb, var(--blue) 38%, var(--paper)); }
.confusion .wrong { --tone: color-mix(in srgb, var(--orange) 38%, var(--paper)); }
.confusion b { display: block; font-size: 1.2rem; }
.confusion span { font-size: 0.85rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr));
  gap: 0 48px; }
.facts { margin: 0; }
.facts > div { display: grid; grid-template-columns: 8.5em minmax(0, 1fr); gap: 12px;
  padding: 6px 0; border-top: 1px solid var(--line); }
.facts > div:first-child { border-top: 0; }
dd { margin: 0; }
.command { display: flex; gap: 12px; align-items: flex-start; background: var(--card);
  border: 1px solid var(--line); border-radius: 10px; padding: 12px 14px; }
pre { margin: 0; flex: 1; white-space: pre-wrap; }
[hidden] { display: none; }
"""
NARROW = """
@media (max-width: 560px) {
  main { padding: 18px 16px 48px; }
  section { margin-top: 44px; }
  .tile { padding: 12px 13px; flex-basis: 40%; }
  .figure { font-size: 1.2rem; }
  .sheet tr { display: grid; grid-template-columns: 1fr auto; padding: 8px 0; }
  .sheet td, .sheet th { padding: 0; }
  .sheet td:last-child { grid-column: 1 / -1; width: auto; font-size: 0.9rem; }
  .assumptions thead { display: none; }
  .assumptions tr { display: grid; grid-template-columns: 1fr 1fr auto; gap: 2px 14px;
    padding: 8px 0; }
  .assumptions th { grid-column: 1 / -1; }
  .assumptions tbody td, .assumptions tbody th { padding: 0; width: auto; text-align: left; }
  .assumptions td.number:nth-child(2)::before { content: "measured "; }
  .assumptions td.number:nth-child(3)::before { content: "limit "; }
  .assumptions td.number { font-size: 0.9rem; font-weight: 400; }
  .assumptions td:last-child { white-space: normal; }
  .weights th { width: 38%; }
  .weights .number { width: 5.6em; font-size: 0.85rem; }
  .facts > div { grid-template-columns: 6.5em minmax(0, 1fr); }
  .command { flex-direction: column; }
}
"""
PRINT = """
@page { margin: 16mm 14mm; }
@media print {
  :root { font-size: 12px; }
  body { font-size: 1rem; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 2rem; margin: 8px 0 12px; }
  section { margin-top: 24px; }
  .plot > svg { height: 190px; }
  .top { min-height: 0; }
  button, .tip, .cross { display: none; }
  h2, h3, figcaption { break-after: avoid; }
  tr, .tiles, .command, .facts > div { break-inside: avoid; }
  .pair { grid-template-columns: 1fr 1fr; gap: 18px 24px; }
  .columns { grid-template-columns: 1fr 1fr; }
}
"""
# A preference for dark applies to the screen only; the button overrides it.
THEMES = (
    f":root {{{LIGHT}}}\n"
    "@media screen and (prefers-color-scheme: dark) {"
    f" :root:not([data-theme=light]) {{{DARK}}} }}\n"
    f"@media screen {{ :root[data-theme=dark] {{{DARK}}} }}\n"
)
STYLE = THEMES + TEXT + CHARTS + TABLES + NARROW + PRINT
