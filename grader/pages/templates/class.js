"use strict";
document.addEventListener("DOMContentLoaded", function () {
  const progress = document.getElementById("progress");
  const table = document.getElementById("students");

  // A run writes this page anew: it is read again, unless somebody is at work in it.
  if (progress && "running" in progress.dataset) {
    setInterval(function () {
      const busy = document.querySelector("input:focus, select:focus, details[open]") || String(getSelection());
      if (!busy) location.reload();
    }, 5000);
  }
  if (!table) return;

  const tools = document.getElementById("tools");
  const input = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const heads = Array.from(table.tHead.rows[0].cells);
  const body = table.tBodies[0];
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  // Letters that stay when accents are taken off, in letters that every keyboard has.
  const letters = { ß: "ss", ø: "o", æ: "ae", œ: "oe", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" };
  // "run-time error", "runtime_error" and "Runtime error" are the same, and so are "Müller" and "muller".
  function plain(text) {
    return text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replace(/[ßøæœłđðþı]/g, (letter) => letters[letter])
      .replace(/[-'’‘ʼʻ`´“”"]/g, "").replace(/_/g, " ");
  }
  // As German writes umlauts where there are none: "mueller".
  function spelt(text) {
    return plain(text.toLowerCase().normalize("NFC").replace(/[äöü]/g, (letter) => letter.normalize("NFD")[0] + "e"));
  }
  const verdicts = {};
  for (const key of document.querySelectorAll("[data-verdict]")) {
    const said = key.lastChild.textContent.trim();
    verdicts[key.dataset.verdict] = { said, words: plain(said + " " + key.dataset.verdict).split(/\s+/) };
  }
  const kernels = heads.filter((head) => head.classList.contains("kernel")).map(function (head) {
    const name = head.dataset.name;
    return { head, name, column: head.cellIndex, words: plain(head.textContent + " " + name).match(/\w{3,}/gu) || [] };
  });
  const section = heads.find((head) => head.dataset.name === "section");
  const rows = Array.from(body.rows).map(function (row) {
    const of = section ? row.cells[section.cellIndex].textContent.trim() : "";
    const said = row.cells[0].textContent + " " + of;
    return {
      row, section: of, name: plain(said) + " " + spelt(said), flags: Number(row.lastElementChild.dataset.v) > 0,
      got: kernels.map((kernel) => row.cells[kernel.column].className),
      mended: kernels.map((kernel) => Boolean(row.cells[kernel.column].querySelector(".mended"))),
    };
  });

  // What a column has, each with how many have it.
  function choice(head, value, words) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", "Show only, " + head.textContent);
    select.append(new Option("all", ""));
    for (const [key, said] of words) {
      const count = rows.filter((line) => value(line) === key).length;
      if (count) select.append(new Option(said + " (" + count + ")", key));
    }
    select.addEventListener("change", keep);
    return { head, name: head.dataset.name, value, select };
  }
  const spokenVerdicts = Object.entries(verdicts).map(([verdict, { said }]) => [verdict, said]);
  const choices = kernels.map((kernel, i) => choice(kernel.head, (line) => line.got[i], spokenVerdicts));
  if (section) {
    const all = Array.from(new Set(rows.map((line) => line.section).filter(Boolean))).sort(collator.compare);
    choices.push(choice(section, (line) => line.section, all.map((name) => [name, name])));
  }

  const mended = "mended";
  const spoken = Object.values(verdicts).flatMap(({ words }) => words).concat(mended);
  // Words that name an assignment limit where the others are searched; alone they find those who do not pass it.
  function wanted(words) {
    const named = words.map((word) => kernels.map((kernel) => word.length > 2 &&
      !spoken.some((own) => own.startsWith(word)) && kernel.words.some((own) => own.startsWith(word))));
    const where = kernels.map((_, i) => named.some((hits) => hits[i]));
    const rest = words.filter((_, i) => !named[i].includes(true));
    const there = where.includes(true) ? where : where.map(() => true);
    return function (line) {
      if (words.every((word) => line.name.includes(word))) return true;
      const left = rest.filter((word) => !line.name.includes(word) && !(line.flags && "flags".startsWith(word)));
      if (!rest.length) return line.got.some((verdict, i) => there[i] && verdict && verdict !== "accepted");
      return !left.length || line.got.some((verdict, i) => there[i] && verdict &&
        left.every((word) => verdicts[verdict].words.some((own) => own.startsWith(word)) ||
          (line.mended[i] && mended.startsWith(word))));
    };
  }

  function apply() {
    const words = plain(input.value).split(/\s+/).filter(Boolean);
    const fits = words.length ? wanted(words) : () => true;
    let count = 0;
    for (const line of rows) {
      const picked = choices.every(({ select, value }) => !select.value || value(line) === select.value);
      line.row.hidden = !(picked && fits(line));
      count += line.row.hidden ? 0 : 1;
    }
    shown.textContent = count + " of " + rows.length;
  }

  function value(row, column, number) {
    const cell = row.cells[column];
    if (!number) return cell.textContent.trim();
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
  }
  function sort(head, ascending) {
    const number = head.dataset.kind === "number";
    const sign = ascending ? 1 : -1;
    const order = Array.from(body.rows).map((row) => [value(row, head.cellIndex, number), row]);
    order.sort(function ([a], [b]) {
      // What has no figure comes last, whichever way the column runs.
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (number ? a - b : collator.compare(a, b));
    });
    body.append(...order.map(([, row]) => row));
    for (const title of heads) title.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  }

  // The address keeps what is shown, and in which order: Back from a report finds it again.
  function keep() {
    const state = new URLSearchParams();
    if (input.value.trim()) state.set("find", input.value.trim());
    for (const { name, select } of choices) if (select.value) state.set(name, select.value);
    const by = table.tHead.querySelector("[aria-sort]");
    const way = by.getAttribute("aria-sort");
    if (by !== heads[0] || way !== "ascending") state.set("sort", by.dataset.name + " " + way);
    history.replaceState(null, "", "#" + state);
    apply();
  }
  function restore() {
    const state = new URLSearchParams(location.hash.slice(1));
    input.value = state.get("find") || "";
    for (const { name, select } of choices) {
      select.value = state.get(name) || "";
      if (select.selectedIndex < 0) select.value = "";
    }
    const [name, way] = (state.get("sort") || "student ascending").split(" ");
    const head = heads.find((title) => title.dataset.name === name) || heads[0];
    // As they come they are by name, and 300 rows that stay where they are cost nothing.
    if (head.getAttribute("aria-sort") !== way) sort(head, way === "ascending");
    apply();
  }
  function clear() {
    input.value = "";
    for (const { select } of choices) select.value = "";
    keep();
  }

  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", function () {
      const now = head.getAttribute("aria-sort");
      sort(head, now ? now === "descending" : head.dataset.kind === "text");
      keep();
    });
  }
  for (const { head, select } of choices) head.append(select);
  input.addEventListener("input", keep);
  document.getElementById("clear").addEventListener("click", clear);
  document.addEventListener("keydown", function (event) {
    const typing = event.target === input;
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      const open = table.querySelector("details[open]");
      if (open) open.open = false;
      else if (typing) clear();
    }
  });
  addEventListener("hashchange", function () {
    restore();
    tools.scrollIntoView();
  });
  tools.hidden = false;
  heads[0].setAttribute("aria-sort", "ascending");
  restore();
});
