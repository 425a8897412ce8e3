"use strict";
// Lists: the current row, the selection, the case that is open beside the list, and rows that are decided.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- rows: one is current; j and k move, and open the row where it opens beside the list
const rows = () => all("[data-row]");
const currentRow = () => document.querySelector("[data-row][aria-current=true]");
const linkOf = (row) => row?.querySelector("[data-open-row]");
const opensBeside = (link) => link?.hasAttribute("hx-get");
const detail = () => document.getElementById("detail");

function makeCurrent(row, { open = true } = {}) {
    for (const other of rows()) other.removeAttribute("aria-current");
    if (!row) return;
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
    const link = linkOf(row);
    if (!open || !link) return;
    // A row with a page of its own gets the focus, so that Enter opens it.
    if (opensBeside(link)) link.click();
    else link.focus({ preventScroll: true });
}

function move(step) {
    const list = rows();
    if (!list.length) return;
    const at = list.indexOf(currentRow());
    makeCurrent(list[Math.min(list.length - 1, Math.max(0, at + step))] ?? list[0]);
}

document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-open-row]");
    if (!link) return;
    makeCurrent(link.closest("[data-row]"), { open: false });
    if (!opensBeside(link)) history.replaceState({ ...history.state, row: link.getAttribute("href") }, "");
});

// After "Back", the row that was opened is current again.
addEventListener("pageshow", () => {
    const link = all("[data-open-row]").find((each) => each.getAttribute("href") === history.state?.row);
    if (link && !opensBeside(link)) makeCurrent(link.closest("[data-row]"));
});

// --- the open case: keys and clicks must act on what is displayed, so it is inert while another one is loaded
const rowOfCase = () => document.getElementById(detail()?.querySelector("[data-case]")?.dataset.case);
const loadedRow = (event) => event.detail.requestConfig?.elt.closest("[data-open-row]")?.closest("[data-row]");
let hadFocus = false;

document.addEventListener("htmx:beforeRequest", (event) => {
    if (!loadedRow(event)) return;
    hadFocus ||= detail().contains(document.activeElement);
    detail().inert = true;
});
document.addEventListener("htmx:beforeSwap", (event) => {
    const row = loadedRow(event);
    if (row && row !== currentRow()) event.detail.shouldSwap = false;
});
document.addEventListener("htmx:afterRequest", (event) => {
    const row = loadedRow(event);
    if (!row || row !== currentRow()) return;
    detail().inert = false;
    if (event.detail.xhr.status === 200) showCase(row);
    else makeCurrent(rowOfCase(), { open: false });
    hadFocus = false;
});

function showCase(row) {
    detail().scrollTop = 0;
    if (hadFocus) detail().querySelector("[data-case]")?.focus({ preventScroll: true });
    keepOpen(row.id);
}

// The address names the open row, so that the page comes back with it.
function keepOpen(rowId) {
    const address = new URL(location.href);
    address.searchParams.set("open", rowId.replace("row-", ""));
    history.replaceState(history.state, "", address);
}
document.addEventListener("undone", (event) => {
    if (event.detail.opens && document.querySelector("[data-list]")) keepOpen(event.detail.opens);
}, true);
document.addEventListener("htmx:configRequest", (event) => {
    if (event.target.matches("[data-list]")) event.detail.path = location.pathname + location.search;
});

// --- decided rows leave the list, and the next one becomes current, so that reviewing continues by keyboard
document.addEventListener("htmx:beforeSwap", (event) => {
    const gone = (event.detail.xhr.getResponseHeader("X-Gone-Rows") ?? "").split(" ").filter(Boolean);
    const leaving = gone.map((id) => document.getElementById(id)).filter(Boolean);
    if (!leaving.length) return;
    const list = rows();
    const wasCurrent = leaving.includes(currentRow());
    const at = list.indexOf(leaving[0]);
    const next = list.slice(at).find((row) => !leaving.includes(row)) ?? list.findLast((row) => !leaving.includes(row));
    hadFocus ||= leaving.some((row) => row.contains(document.activeElement));
    for (const row of leaving) row.remove();
    if (wasCurrent && next) makeCurrent(next);
    countSelected();
    if (rows().length) return;
    document.getElementById("main").focus({ preventScroll: true });
    document.body.dispatchEvent(new Event("list-empty"));
});

// The row of a decision fades immediately and comes back if the server refuses.
document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.closest("[data-bulk]")) for (const row of selectedRows()) row.classList.add("leaving");
    else if (event.target.closest(".decide, .other")) rowOfCase()?.classList.add("leaving");
    const form = event.target.closest("[data-once]");
    if (form) form.closest(".toast").hidden = true;
});
document.addEventListener("htmx:afterRequest", (event) => {
    for (const row of all(".leaving")) row.classList.remove("leaving");
    event.target.closest?.("[data-once]")?.closest(".toast")?.remove();
});

// --- selection: with selected rows, keys decide about these
const boxes = () => all("[data-row] input[type=checkbox]");
const selectedRows = () => boxes().filter((box) => box.checked).map((box) => box.closest("[data-row]"));
let lastBox = null;

function countSelected() {
    const bar = document.querySelector("[data-bulk]");
    if (!bar) return;
    const chosen = selectedRows().length;
    bar.toggleAttribute("data-has-selection", chosen > 0);
    bar.querySelector("[data-bulk-count]").textContent = String(chosen);
    const every = bar.querySelector("[data-select-all]");
    every.checked = chosen > 0 && chosen === boxes().length;
    every.indeterminate = chosen > 0 && !every.checked;
}
function select(chosen, checked) {
    for (const box of chosen) box.checked = checked;
    countSelected();
}
function selectUpTo(box, checked = true) {
    if (!box) return;
    const list = boxes();
    const [from, to] = [list.indexOf(lastBox), list.indexOf(box)].sort((one, other) => one - other);
    select(from < 0 ? [box] : list.slice(from, to + 1), checked);
}
document.addEventListener("click", (event) => {
    const box = event.target.closest("[data-row] input[type=checkbox]");
    if (!box) return;
    if (event.shiftKey) selectUpTo(box, box.checked);
    lastBox = box;
});
document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) select(boxes(), event.target.checked);
    else countSelected();
});
document.addEventListener("htmx:load", countSelected);
