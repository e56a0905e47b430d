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

  function sortable(table) {
    const body = table.tBodies[0];
    const heads = Array.from(table.tHead.rows[0].cells);
    const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

    function value(row, column, number) {
      const cell = row.cells[column];
      if (!number) return cell.textContent.trim();
      return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
    }
    function sort(column, ascending) {
      const number = heads[column].dataset.kind === "number";
      const sign = ascending ? 1 : -1;
      const rows = Array.from(body.rows).map((row) => [value(row, column, number), row]);
      rows.sort(function ([a], [b]) {
        // What has no figure comes last, whichever way the column runs.
        if (a === null || b === null) return (a === null) - (b === null);
        return sign * (number ? a - b : collator.compare(a, b));
      });
      body.append(...rows.map(([, row]) => row));
      heads.forEach((head, i) => {
        if (i === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      });
    }
    heads.forEach(function (head, column) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", function () {
        const now = head.getAttribute("aria-sort");
        sort(column, now ? now === "descending" : head.dataset.kind === "text");
      });
    });
    heads[0].setAttribute("aria-sort", "ascending");
  }

  function filterable(table, tools) {
    const input = tools.querySelector("input");
    const shown = tools.querySelector("output");
    const rows = Array.from(table.tBodies[0].rows).map((row) => [row, row.textContent.toLowerCase()]);

    function apply() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const [row, text] of rows) {
        row.hidden = !words.every((word) => text.includes(word));
        count += row.hidden ? 0 : 1;
      }
      shown.textContent = count + " of " + rows.length;
    }
    input.addEventListener("input", apply);
    document.addEventListener("keydown", function (event) {
      const typing = event.target === input;
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        input.focus();
      } else if (event.key === "Escape" && typing) {
        input.value = "";
        apply();
      }
    });
    tools.hidden = false;
    // A browser may restore what was typed before a reload.
    apply();
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
    const table = document.getElementById("students");
    if (table) {
      sortable(table);
      filterable(table, document.getElementById("tools"));
    }
    unfoldInPrint();
  });
})();
