// What readers without a mouse need, and the theme leaves out.
"use strict";

function set(selector, attributes) {
  for (const each of document.querySelectorAll(selector)) {
    for (const [name, value] of Object.entries(attributes)) each.setAttribute(name, value);
  }
}

// On a phone a row of a wide table becomes a paragraph: each value then needs the name of its column.
function named(table) {
  const names = [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim());
  if (names.length < 4) return;
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, k) => {
      if (k) (cell.querySelector(":scope > p") ?? cell).dataset.column = `${names[k]}: `;
    });
  }
}

function renamed(old, tag, name) {
  const made = document.createElement(tag);
  made.className = name;
  made.append(...old.childNodes);
  old.replaceWith(made);
}

// Code, formulas and tables that scroll sideways can be focused, and so scrolled with the arrow keys.
function focusScrolled() {
  for (const each of document.querySelectorAll(".highlight pre, div.math, .table-wrapper")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  set('.caption[role="heading"]', { "aria-level": "2" });
  set("aside.sidebar-drawer", { "aria-label": "Menu" });
  set("aside.toc-drawer", { "aria-label": "Contents of this page" });
  // Parameters, one per line, are marked up as definitions without terms; corners of tables as headers without words.
  for (const each of document.querySelectorAll("dt.sig dl > dd")) renamed(each, "div", "parameter");
  for (const each of document.querySelectorAll("dt.sig dl")) renamed(each, "div", "parameters");
  for (const each of document.querySelectorAll("th")) if (!each.textContent.trim()) renamed(each, "td", each.className);
  // The theme gives the page of the search no heading before there are results.
  if (!document.querySelector("h1")) {
    const heading = document.createElement("h1");
    heading.textContent = "Search";
    (document.querySelector("article") ?? document.body).prepend(heading);
  }
  for (const each of document.querySelectorAll("table.stacks")) named(each);
  focusScrolled();
  addEventListener("resize", focusScrolled);
});
