"use strict";
// Keyboard shortcuts, focus and small panels; lists.js has the lists. Everything else is HTML rendered by the server.

const isTyping = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

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

// --- the second click of a double click decides nothing: the first one may have moved another button under the pointer
document.addEventListener(
    "click",
    (event) => {
        if (event.detail < 2 || !event.target.closest(".decide")) return;
        event.preventDefault();
        event.stopPropagation();
    },
    true,
);

// --- keys: outside of fields, a key clicks the element with that data-key
const builtIn = {
    j: () => move(1),
    k: () => move(-1),
    x: () => currentRow()?.querySelector("input[type=checkbox]")?.click(),
    X: () => selectUpTo(currentRow()?.querySelector("input[type=checkbox]")),
    "/": () => document.querySelector("[data-search]")?.focus(),
    "?": () => document.getElementById("keys-help").showModal(),
    v: () => makeCurrent(currentRow() ?? rows()[0]),
    u: () => all("[data-undo]").at(-1)?.click(),
};

// With selected rows, only the keys of the selection decide: the open case may be another one.
const decisionKeys = () =>
    all(selectedRows().length ? "[data-bulk] [data-key]" : "[data-key]:not([data-bulk] *)").filter(
        (each) => !each.closest("[inert]"),
    );

function press(key) {
    const mayBePressed = (each) => each.checkVisibility() && !each.disabled && !each.matches(".panel[open] > summary");
    const pressed = decisionKeys().find((each) => each.dataset.key === key && mayBePressed(each)); // Escape closes a panel
    if (!builtIn[key] && !pressed) return false;
    (builtIn[key] ?? (() => pressed.click()))();
    // Immediately, not at the toggle event: the next key already belongs to the field.
    if (pressed?.matches("summary")) pressed.parentElement.querySelector("[data-focus]")?.focus();
    return true;
}

// Keys pressed during a request are queued until its response, so that "j" followed by "a" approves the next memory and
// not the one still displayed. A queued key decides only about what was on the screen when it was pressed, as a row or
// as the case, or before. The queue is cleared when a request fails or a field gets the focus.
const queuedKeys = [];
const isLoading = () => document.querySelector(".htmx-request:not([data-background]), [data-retrying]") !== null;
const isDeciding = () => document.querySelector(".htmx-request:not([data-open-row], [data-background])") !== null;
const mustWait = (key) => queuedKeys.length > 0 || isDeciding() || (isLoading() && !builtIn[key]);

function isOnScreen(row) {
    const { top, bottom } = row.getBoundingClientRect();
    return row.checkVisibility() && bottom > 0 && top < innerHeight;
}
function queueKey(key) {
    queuedKeys.push({ key, seen: new Set([...seenCases, ...rows().filter(isOnScreen).map((row) => row.id)]) });
}
const mayPress = ({ key, seen }) => builtIn[key] || selectedRows().length > 0 || !caseId() || seen.has(caseId());

function pressQueuedKeys() {
    while (queuedKeys.length && !isLoading()) {
        const queued = queuedKeys.shift();
        if (mayPress(queued)) press(queued.key);
        else queuedKeys.length = 0;
        if (isTyping(document.activeElement)) queuedKeys.length = 0;
    }
}

const OPEN_PANEL = ".panel[open], .menu[open]";
document.addEventListener("click", (event) => {
    for (const menu of all(".menu[open]")) menu.open = menu.contains(event.target);
});

// Escape closes what is open, the innermost first: a field, a panel, the menu, the selection.
function escape(target) {
    const panel = target.closest(OPEN_PANEL) ?? document.querySelector(OPEN_PANEL);
    if (isTyping(target)) target.blur();
    if (panel) {
        panel.open = false;
        panel.querySelector("summary").focus();
    } else if (document.querySelector(".side.open")) document.querySelector("[data-toggles=side]").click();
    else if (!isTyping(target)) select(boxes(), false);
}

// "g" and a letter open a page of the navigation; a letter without a page does nothing, least of all decide.
let isGoing = false;
function go(key) {
    const begins = key === "g" && !isGoing;
    if (!begins && !isGoing) return false;
    if (isGoing) document.querySelector(`[data-go="${CSS.escape(key)}"]`)?.click();
    isGoing = begins;
    return true;
}

document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) escape(event.target);
    // A key that is held down decides once; only moving repeats.
    if (event.repeat && !isTyping(event.target) && /^([^jk ]|Enter)$/.test(event.key)) event.preventDefault();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key.length === 1 && go(event.key)) return event.preventDefault();
    if (event.key.length === 1 && mustWait(event.key)) queueKey(event.key);
    else if (!press(event.key)) return;
    event.preventDefault();
});
document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful && !isBackground(event) && !willRetry(event)) queuedKeys.length = 0;
    pressQueuedKeys();
});

// --- counts of what waits: in the title, and read again every half minute, unless the tab is hidden
const REFRESH_AFTER = 30_000; // milliseconds
const pageTitle = document.title;
let countedAt = Date.now();

function showCountInTitle() {
    const waiting = Number(document.querySelector("#count-review")?.textContent ?? 0);
    document.title = waiting ? `(${waiting}) ${pageTitle}` : pageTitle;
}
function refreshCounts() {
    const counts = document.querySelector("[data-counts]");
    if (!counts || document.hidden || Date.now() - countedAt < REFRESH_AFTER) return;
    countedAt = Date.now();
    htmx.trigger(counts, "refresh");
}
// A list names itself, its filters and when it was shown, and is told how many rows are new.
document.addEventListener("htmx:configRequest", (event) => {
    if (!event.target.matches("[data-counts]")) return;
    for (const each of all("[data-news] input")) event.detail.parameters[each.name] = each.value;
});
showCountInTitle();
document.addEventListener("htmx:oobAfterSwap", showCountInTitle);
document.addEventListener("htmx:afterSettle", showCountInTitle); // a page that replaces a list brings its own title
document.addEventListener("visibilitychange", refreshCounts);
setInterval(refreshCounts, REFRESH_AFTER / 6);
// What runs in the background neither reports a failure nor leads to the login: the next thing a person does will.
const isBackground = (event) => event.target.matches("[data-background]");
document.addEventListener("htmx:beforeOnLoad", (event) => {
    if (isBackground(event) && event.detail.xhr.getResponseHeader("HX-Redirect")) event.preventDefault();
});

// --- Ctrl+Enter submits
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
const SERVER_FAILED = "The server could not be reached or failed. Reload the page before you try again.";
const NOT_LOADED = "It could not be loaded: the server could not be reached or failed. Press v to try again.";
function tellFailure(event) {
    const isOurs = event.detail.xhr.status === 0 || event.detail.xhr.status >= 500;
    if (isOurs && !isBackground(event) && !willRetry(event)) showError(isReading(event) ? NOT_LOADED : SERVER_FAILED);
}
document.addEventListener("htmx:sendError", tellFailure);
document.addEventListener("htmx:responseError", tellFailure);
function showError(text) {
    const toast = document.createElement("div");
    toast.className = "toast toast-bad";
    toast.role = "alert";
    toast.textContent = text;
    document.getElementById("toasts").append(toast);
    setTimeout(() => toast.remove(), 8000);
}
