"use strict";
// Keyboard shortcuts, focus and small panels. Everything else is HTML rendered by the server.

const isTyping = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- theme: switch to the other one; back to "auto" if that is what the system prefers
document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const systemIsDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme;
    const isDark = now === "dark" || (now === "auto" && systemIsDark);
    const next = isDark === systemIsDark ? (isDark ? "light" : "dark") : "auto";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
});

// --- small panels: data-toggles shows an element, data-opens opens a dialog, data-goes navigates to the chosen option
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

// --- lists: one row is current; j and k move to the next or previous row and open it
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

// Ignore a response for a row that is no longer current: keys must act on what is displayed.
document.addEventListener("htmx:beforeSwap", (event) => {
    const row = event.detail.requestConfig.elt.closest("[data-open-row]")?.closest("[data-row]");
    if (row && row !== currentRow()) event.detail.shouldSwap = false;
});

// Remove decided rows from the list and make the next row current, so that reviewing continues by keyboard.
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

// --- bulk selection
function countSelected() {
    const bar = document.querySelector("[data-bulk]");
    if (!bar) return;
    const chosen = all("[data-row] input[type=checkbox]:checked").length;
    bar.hidden = chosen === 0;
    const count = bar.querySelector("[data-bulk-count]");
    if (count) count.textContent = String(chosen);
}
document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]"))
        for (const box of all("[data-row] input[type=checkbox]")) box.checked = event.target.checked;
    countSelected();
});

// --- keys: outside of fields, a key clicks the element with that data-key
const builtIn = {
    j: () => move(1),
    k: () => move(-1),
    x: () => currentRow()?.querySelector("input[type=checkbox]")?.click(),
    "/": () => document.querySelector("[data-search]")?.focus(),
    "?": () => document.getElementById("keys-help").showModal(),
    u: () => all("[data-undo]").at(-1)?.click(),
};

function press(key) {
    const pressed = all("[data-key]").find((each) => each.dataset.key === key && each.checkVisibility() && !each.disabled);
    if (!builtIn[key] && !pressed) return false;
    (builtIn[key] ?? (() => pressed.click()))();
    // Immediately, not at the toggle event: the next key already belongs to the field.
    if (pressed?.matches("summary")) pressed.parentElement.querySelector("[data-focus]")?.focus();
    return true;
}

// Keys pressed during a request are queued until its response, so that "j" followed by "a" approves the next memory and
// not the one still displayed. The queue is cleared when a request fails or a field gets the focus.
const queuedKeys = [];
const isLoading = () => document.querySelector(".htmx-request") !== null;
const isDeciding = () => document.querySelector(".htmx-request:not([data-open-row])") !== null;
const mustWait = (key) => queuedKeys.length > 0 || isDeciding() || (isLoading() && !builtIn[key]);

function pressQueuedKeys() {
    while (queuedKeys.length && !isLoading()) {
        press(queuedKeys.shift());
        if (isTyping(document.activeElement)) queuedKeys.length = 0;
    }
}

document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping(event.target)) event.target.blur();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key.length === 1 && mustWait(event.key)) queuedKeys.push(event.key);
    else if (!press(event.key)) return;
    event.preventDefault();
});
document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful) queuedKeys.length = 0;
    pressQueuedKeys();
});

// --- decisions: the row fades immediately and comes back if the server refuses
const isDecision = (event) => event.target.closest(".decide, .other, [data-bulk]");
document.addEventListener("htmx:beforeRequest", (event) => {
    if (isDecision(event)) currentRow()?.classList.add("leaving");
    const form = event.target.closest("[data-once]");
    if (form) form.closest(".toast").hidden = true;
});
document.addEventListener("htmx:afterRequest", (event) => {
    for (const row of all(".leaving")) row.classList.remove("leaving");
    event.target.closest?.("[data-once]")?.closest(".toast")?.remove();
});
document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("[data-submits]"))
        event.target.form.requestSubmit();
});

// --- polling: an element with data-polls asks nothing while the tab is hidden, and at once when it is shown again
document.addEventListener("htmx:beforeRequest", (event) => {
    if (document.hidden && event.detail.elt.matches("[data-polls]")) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
    if (!document.hidden) for (const each of all("[data-polls]")) htmx.trigger(each, "shown-again");
});

// --- focus newly opened fields; remove toasts after a while, later if they have an undo
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
document.addEventListener("htmx:sendError", () => showServerError());
document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status >= 500) showServerError();
});
function showServerError() {
    const toast = document.createElement("div");
    toast.className = "toast toast-bad";
    toast.textContent = "The server could not be reached or failed. Reload the page before you try again.";
    document.getElementById("toasts").append(toast);
    setTimeout(() => toast.remove(), 8000);
}
