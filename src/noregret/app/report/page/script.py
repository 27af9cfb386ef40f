"""The script of a page: theme, copy button, values under the pointer.

The page is complete without it. It contains no < and &, so that the page is well-formed XML.
"""

from __future__ import annotations

SCRIPT = r"""
"use strict";
const root = document.documentElement;
const theme = document.getElementById("theme");
const copy = document.getElementById("copy");

function isDark() {
  if (root.dataset.theme) return root.dataset.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function nameTheme() { theme.textContent = isDark() ? "Light" : "Dark"; }

theme.hidden = false;
nameTheme();
theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});

if (copy) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    const text = document.getElementById("command");
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
}

function add(parent, name, text) {
  const made = document.createElement("div");
  made.className = name;
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

function follow(plot) {
  const stops = JSON.parse(plot.dataset.hover);
  const names = JSON.parse(plot.dataset.names);
  const drawn = plot.querySelector("svg");
  const cross = add(plot, "cross");
  const tip = add(plot, "tip");
  const hide = () => { cross.hidden = tip.hidden = true; };
  hide();
  plot.addEventListener("pointerleave", hide);
  plot.addEventListener("pointermove", (event) => {
    if (!stops.length) return;
    const box = drawn.getBoundingClientRect();
    const left = box.left - plot.getBoundingClientRect().left;
    const at = (event.clientX - box.left) / box.width;
    const far = (stop) => Math.abs(stop[0] - at);
    const stop = stops.reduce((best, next) => (far(best) > far(next) ? next : best));
    const x = left + stop[0] * box.width;
    cross.hidden = tip.hidden = false;
    cross.style.left = x + "px";
    cross.style.height = box.height + "px";
    tip.replaceChildren();
    const heading = document.createElement("b");
    heading.textContent = (plot.dataset.unit || "round") + " " + stop[1];
    tip.append(heading);
    stop[2].forEach((found, i) => { if (found) add(tip, "", names[i][0] + " " + found[1]); });
    const room = plot.clientWidth - tip.offsetWidth;
    const beside = at > 0.5 ? x - tip.offsetWidth - 12 : x + 12;
    tip.style.left = Math.max(0, Math.min(room, beside)) + "px";
  });
}

document.querySelectorAll("[data-hover]").forEach(follow);
"""
