"use strict";
// Pages work without this; with it, states change by themselves, files may be dropped, and a link signs in at once.
const list = document.querySelector("[data-events]");
if (list) {
  const stream = new EventSource(list.dataset.events);
  // A page that is loaded again would lose what was typed or chosen.
  const typed = () => [...document.querySelectorAll("#file, #note, #pasted")].some((field) => field.value !== "");
  stream.onmessage = (event) => {
    for (const state of JSON.parse(event.data)) {
      const item = list.querySelector(`[data-job="${state.id}"]`);
      if ((!item || (item.dataset.state !== state.state && state.attempt)) && !typed()) { stream.close(); location.reload(); return; }
      if (!item) continue;
      item.dataset.state = state.state;
      item.querySelector("[data-said]").textContent = state.said;
      if (state.state !== "waiting") item.querySelector("form")?.remove();
      if (state.attempt && !item.querySelector("a")) {
        const report = document.createElement("a");
        report.href = `/attempt/${state.attempt}`;
        report.textContent = " report";
        item.querySelector("[data-said]").after(report);
      }
    }
  };
}
const sheet = document.querySelector("[data-drop]");
if (sheet) {
  const field = sheet.querySelector("input[type=file]");
  for (const name of ["dragenter", "dragover"]) sheet.addEventListener(name, (event) => { event.preventDefault(); sheet.classList.add("over"); });
  sheet.addEventListener("dragleave", () => sheet.classList.remove("over"));
  sheet.addEventListener("drop", (event) => { event.preventDefault(); sheet.classList.remove("over"); field.files = event.dataTransfer.files; });
}
const link = document.querySelector("[data-link]");
if (location.hash.length > 20) {
  // A person presses the button: a link must not sign somebody in by being followed.
  if (link) link.value = location.hash;
  history.replaceState(null, "", location.pathname);
}
