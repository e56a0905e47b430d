"use strict";
(function () {
  const root = document.documentElement;
  const key = "kernelmark-theme";
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // Storage is refused to some pages opened from disk: the switch then works, but is forgotten.
  function remembered() {
    try { return localStorage.getItem(key); } catch { return null; }
  }
  function remember(theme) {
    try { localStorage.setItem(key, theme); } catch { /* see above */ }
  }
  function current() {
    return root.dataset.theme || (dark.matches ? "dark" : "light");
  }

  const chosen = remembered();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  function themeSwitch(button) {
    function label() {
      button.textContent = current() === "dark" ? "Light theme" : "Dark theme";
    }
    button.addEventListener("click", function () {
      root.dataset.theme = current() === "dark" ? "light" : "dark";
      remember(root.dataset.theme);
      label();
    });
    dark.addEventListener("change", label);
    label();
    button.hidden = false;
  }

  // A browser that cannot print what is folded by a style.
  function unfoldInPrint() {
    let opened = [];
    addEventListener("beforeprint", function () {
      opened = Array.from(document.querySelectorAll("details.evidence:not([open])"));
      opened.forEach((details) => { details.open = true; });
    });
    addEventListener("afterprint", function () {
      opened.forEach((details) => { details.open = false; });
    });
  }

  document.addEventListener("DOMContentLoaded", function () {
    themeSwitch(document.getElementById("theme"));
    unfoldInPrint();
  });
})();
