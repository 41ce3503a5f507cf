// What pages do beyond HTML: follow a run as it goes on, say how much is chosen, and keys. Without
// it everything works but the first, for which a page then loads itself anew.
"use strict";

// Follows a run: each event carries the part of the page that shows it, written and escaped by the
// server.
function follow(view) {
  const source = new EventSource(view.dataset.live);
  const state = document.getElementById("live-state");
  const say = (text) => { if (state && state.textContent !== text) state.textContent = text; };
  source.addEventListener("moment", (event) => {
    const template = document.createElement("template");
    template.innerHTML = event.data;
    view.replaceChildren(template.content);
    say("live");
  });
  source.addEventListener("end", (event) => {
    source.close();
    say("ended");
    if (event.data) location.assign(event.data);
  });
  source.onerror = () => say("the connection is lost; trying again");
}

// Says how many runs are chosen, and lets them be compared when there are enough.
function choosing(form) {
  const count = form.querySelector("[data-count]");
  const buttons = form.querySelectorAll("[data-needs]");
  const update = () => {
    const chosen = form.querySelectorAll("tbody input[type=checkbox]:checked").length;
    if (count) count.textContent = chosen === 0 ? "" : `${chosen} chosen`;
    buttons.forEach((button) => { button.disabled = chosen < Number(button.dataset.needs); });
  };
  form.addEventListener("change", update);
  window.addEventListener("pageshow", update);
  update();
}

// Rows of the table of runs by keys: j and k go down and up, x chooses; / goes to the search.
function keys(event) {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const search = document.querySelector("[role=search] input");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
    return;
  }
  const links = [...document.querySelectorAll("[data-rows] tbody th a")];
  const row = document.activeElement.closest("[data-rows] tbody tr");
  const at = links.findIndex((link) => row && row.contains(link));
  if (event.key === "j" && at + 1 < links.length) links[at + 1].focus();
  if (event.key === "k" && at > 0) links[at - 1].focus();
  if (event.key === "x" && row) row.querySelector("input[type=checkbox]")?.click();
}

document.querySelectorAll("[data-live]").forEach(follow);
document.querySelectorAll("form[data-choosing]").forEach(choosing);
document.addEventListener("keydown", keys);
