// What readers without a mouse need, and the theme leaves out.
"use strict";

function set(selector, attributes) {
  for (const each of document.querySelectorAll(selector)) {
    for (const [name, value] of Object.entries(attributes)) each.setAttribute(name, value);
  }
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
  set("dt.sig dl, dt.sig dl dd", { role: "none" }); // parameters, one per line
  focusScrolled();
  addEventListener("resize", focusScrolled);
});
