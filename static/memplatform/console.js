"use strict";
// What the server can't do: keys, focus, small panels. Everything else is HTML that the server sends.

const isTyping = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- theme: the other one than what is seen; system again when that is what the system shows
document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const systemIsDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme;
    const isDark = now === "dark" || (now === "auto" && systemIsDark);
    const next = isDark === systemIsDark ? (isDark ? "light" : "dark") : "auto";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
});

// --- small panels: data-toggles opens a part of the page, data-opens a dialog, data-goes follows a choice
document.addEventListener("click", (event) => {
    const toggle = event.target.closest("[data-toggles]");
    if (toggle) {
        const open = document.getElementById(toggle.dataset.toggles).classList.toggle("open");
        toggle.setAttribute("aria-expanded", String(open));
    }
    const opener = event.target.closest("[data-opens]");
    if (opener) document.getElementById(opener.dataset.opens)?.showModal();
    const closer = event.target.closest("[data-closes]");
    if (closer) closer.closest("dialog, .toast")?.remove();
});
document.addEventListener("change", (event) => {
    if (event.target.matches("[data-goes]")) location.assign(event.target.value);
});

// --- lists: one row is current; j and k move it, and rows open what they point at
const rows = () => all("[data-row]");
const currentRow = () => document.querySelector("[data-row][aria-current=true]");

function makeCurrent(row, { open = true } = {}) {
    if (!row) return;
    for (const other of rows()) other.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
    if (open) row.querySelector("[data-open-row]")?.click();
}

function move(step) {
    const list = rows();
    const at = list.indexOf(currentRow());
    makeCurrent(list[Math.min(list.length - 1, Math.max(0, at + step))] ?? list[0]);
}

document.addEventListener("click", (event) => {
    const row = event.target.closest("[data-open-row]")?.closest("[data-row]");
    if (row) makeCurrent(row, { open: false });
});

// An answer that comes after the row was left is not shown: what is shown is what the keys decide.
document.addEventListener("htmx:beforeSwap", (event) => {
    const row = event.detail.requestConfig.elt.closest("[data-open-row]")?.closest("[data-row]");
    if (row && row !== currentRow()) event.detail.shouldSwap = false;
});

// A row that was decided leaves the list; the next one takes its place, so that the hands stay on the keys.
document.addEventListener("htmx:beforeSwap", (event) => {
    const gone = (event.detail.xhr.getResponseHeader("X-Gone-Rows") ?? "").split(" ").filter(Boolean);
    const leaving = gone.map((id) => document.getElementById(id)).filter(Boolean);
    if (!leaving.length) return;
    const list = rows();
    const wasCurrent = leaving.includes(currentRow());
    const at = list.indexOf(leaving[0]);
    const next = list.slice(at).find((row) => !leaving.includes(row)) ?? list.findLast((row) => !leaving.includes(row));
    for (const row of leaving) row.remove();
    if (wasCurrent && next) makeCurrent(next);
    if (!rows().length) document.body.dispatchEvent(new Event("list-empty"));
    countSelected();
});

// --- selection of many
function countSelected() {
    const bar = document.querySelector("[data-bulk]");
    if (!bar) return;
    const chosen = all("[data-row] input[type=checkbox]:checked").length;
    bar.hidden = chosen === 0;
    const said = bar.querySelector("[data-bulk-count]");
    if (said) said.textContent = String(chosen);
}
document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]"))
        for (const box of all("[data-row] input[type=checkbox]")) box.checked = event.target.checked;
    countSelected();
});

// --- keys: any element with data-key is pressed by that key, outside of fields
const fixed = {
    j: () => move(1),
    k: () => move(-1),
    x: () => currentRow()?.querySelector("input[type=checkbox]")?.click(),
    "/": () => document.querySelector("[data-search]")?.focus(),
    "?": () => document.getElementById("keys-help").showModal(),
    u: () => all("#toasts [data-undo]").at(-1)?.click(),
};

function press(key) {
    const pressed = all("[data-key]").find((each) => each.dataset.key === key && each.checkVisibility() && !each.disabled);
    if (!fixed[key] && !pressed) return false;
    (fixed[key] ?? (() => pressed.click()))();
    // At once, not when the browser tells that it is open: the next letter belongs into the field already.
    if (pressed?.matches("summary")) pressed.parentElement.querySelector("[data-focus]")?.focus();
    return true;
}

// Keys that are faster than the server wait for its answer, so that each meets what it was meant for: after "j", an "a"
// approves the next one and not the one that is still shown. What comes after a refusal, or opens a field, is forgotten.
const held = [];
const isAwaited = () => document.querySelector(".htmx-request") !== null;
const isDecided = () => document.querySelector(".htmx-request:not([data-open-row])") !== null;
const mustWait = (key) => held.length > 0 || isDecided() || (isAwaited() && !fixed[key]);

function pressHeld() {
    while (held.length && !isAwaited()) {
        press(held.shift());
        if (isTyping(document.activeElement)) held.length = 0;
    }
}

document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping(event.target)) event.target.blur();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key.length === 1 && mustWait(event.key)) held.push(event.key);
    else if (!press(event.key)) return;
    event.preventDefault();
});
document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful) held.length = 0;
    pressHeld();
});

// --- decisions: what is being decided fades at once, and comes back when the server refuses
const deciding = (event) => event.target.closest(".decide, .other, [data-bulk]");
document.addEventListener("htmx:beforeRequest", (event) => {
    if (deciding(event)) currentRow()?.classList.add("leaving");
    const once = event.target.closest("[data-once]");
    if (once) once.closest(".toast").hidden = true;
});
document.addEventListener("htmx:afterRequest", (event) => {
    for (const row of all(".leaving")) row.classList.remove("leaving");
    event.target.closest?.("[data-once]")?.closest(".toast")?.remove();
});
document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("[data-submits]"))
        event.target.form.requestSubmit();
});

// --- fields that open are typed into at once; toasts leave after a while, slower with an undo
document.addEventListener("htmx:load", (event) => {
    event.detail.elt.querySelector?.("[data-focus]")?.focus();
    for (const toast of all(".toast:not([data-timed])", event.detail.elt.parentElement ?? document)) {
        toast.dataset.timed = "";
        setTimeout(() => toast.remove(), toast.querySelector("[data-undo]") ? 30000 : 8000);
    }
});
document.addEventListener("toggle", (event) => {
    if (event.target.open) event.target.querySelector?.("[data-focus]")?.focus();
}, true);
document.addEventListener("htmx:sendError", () => sayOffline());
document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status >= 500) sayOffline();
});
function sayOffline() {
    const toast = document.createElement("div");
    toast.className = "toast toast-bad";
    toast.textContent = "The server could not be reached; nothing was changed. Try again.";
    document.getElementById("toasts").append(toast);
    setTimeout(() => toast.remove(), 8000);
}
