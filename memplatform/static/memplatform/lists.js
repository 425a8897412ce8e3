"use strict";
// Lists: the current row, the selection, the case that is open beside the list, and rows that are decided.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- rows: one is current; j and k move, and open the row where it opens beside the list
const rows = () => all("[data-row]");
const currentRow = () => document.querySelector("[data-row][aria-current=true]");
const linkOf = (row) => row?.querySelector("[data-open-row]");
const opensBeside = (link) => link?.hasAttribute("hx-get");
const detail = () => document.getElementById("detail");
const list = () => document.querySelector("[data-list]");

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

// Beyond the last row of a page is the first one of the next page. On a phone, the first move opens the current row.
function move(step) {
    const known = rows();
    if (!known.length) return;
    const at = known.indexOf(currentRow());
    const next = at < 0 ? 0 : at + (isListAlone() ? 0 : step);
    if (next >= known.length && hasMore()) reloadList({ after: idOf(known.at(-1)) });
    else if (next < 0 && Number(list()?.dataset.page) > 1) reloadList({ before: idOf(known[0]) });
    else makeCurrent(known[Math.min(known.length - 1, Math.max(0, next))]);
}

document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-open-row]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    makeCurrent(link.closest("[data-row]"), { open: false });
    if (!opensBeside(link)) history.replaceState({ ...history.state, row: link.getAttribute("href") }, "");
});

// After "Back", the row that was opened is current again.
addEventListener("pageshow", () => {
    const link = all("[data-open-row]").find((each) => each.getAttribute("href") === history.state?.row);
    if (link && !opensBeside(link)) makeCurrent(link.closest("[data-row]"));
});

// --- the list is read again after undo, at the end of a page, and when it is empty
const idOf = (row) => row.id.replace("row-", "");
const hasMore = () => list()?.hasAttribute("data-more") ?? false;
let asked = null; // the query parameters of the next reading, in place of the open row
let wasOpen = false; // the case, when the list was read again

function reloadList(parameters) {
    if (!list()) return; // other lists read themselves again
    asked = parameters;
    htmx.trigger(list(), "reload-list");
}
document.addEventListener("htmx:configRequest", (event) => {
    if (!event.target.matches("[data-list]")) return;
    wasOpen = panes()?.hasAttribute("data-open");
    const address = new URL(location.href);
    if (asked || isDecided) keepIn(address, currentRow());
    for (const [name, value] of Object.entries(asked ?? {})) address.searchParams.set(name, value);
    event.detail.path = address.pathname + address.search;
});
document.addEventListener("htmx:load", (event) => {
    if (!event.detail.elt.matches?.("[data-list]")) return;
    if (asked || isDecided) keepOpen(currentRow(), list().dataset.page);
    asked = null;
    if (wasOpen) panes()?.setAttribute("data-open", "");
    currentRow()?.scrollIntoView({ block: "nearest" });
    noteCase();
});

// The address names the open row and its page, so that the page comes back with it.
function keepIn(address, row) {
    if (row) address.searchParams.set("open", idOf(row));
    else address.searchParams.delete("open");
}
function keepOpen(row, page) {
    const address = new URL(location.href);
    keepIn(address, row);
    if (page > 1) address.searchParams.set("page", page);
    else if (page) address.searchParams.delete("page");
    history.replaceState(history.state, "", address);
}
document.addEventListener("undone", (event) => {
    if (!event.detail.opens || !list()) return;
    isDecided = false;
    keepOpen({ id: event.detail.opens });
}, true);

// Messages stand above the bar of decisions, whose height depends on what can be decided.
function measureBar() {
    const bar = document.querySelector(".detail .decide");
    const height = bar && getComputedStyle(bar).position === "fixed" ? bar.offsetHeight : 0;
    document.documentElement.style.setProperty("--bar-height", `${height}px`);
}
addEventListener("resize", measureBar);
document.addEventListener("toggle", measureBar, true);

// --- what could not be loaded is asked for again, twice: reading changes nothing
const RETRY_AFTER = [300, 1_200]; // milliseconds
const isReading = (event) => event.detail.elt?.matches("[data-open-row][hx-get], [data-list]");

const retryPlans = new WeakMap(); // by request, since several listeners ask

function willRetry(event) {
    const { xhr, elt } = event.detail;
    const failed = xhr.status === 0 || xhr.status >= 500;
    if (!retryPlans.has(xhr)) retryPlans.set(xhr, isReading(event) && failed && (elt.retries ?? 0) < RETRY_AFTER.length);
    return retryPlans.get(xhr);
}
document.addEventListener("htmx:afterRequest", (event) => {
    const element = event.detail.elt;
    if (!isReading(event)) return;
    const isCurrent = element.matches("[data-list]") || element.closest("[data-row]") === currentRow();
    if (!willRetry(event) || !isCurrent) {
        element.retries = 0;
        element.removeAttribute("data-retrying");
        return;
    }
    element.retries = (element.retries ?? 0) + 1;
    element.setAttribute("data-retrying", "");
    setTimeout(() => {
        if (element.matches("[data-list]")) htmx.trigger(element, "reload-list");
        else if (element.closest("[data-row]") === currentRow()) element.click();
        else element.removeAttribute("data-retrying");
    }, RETRY_AFTER[element.retries - 1]);
});

// --- the open case: keys and clicks must act on what is displayed, so it is inert while another one is loaded, while it
// is decided about, and once it is decided
const caseIn = (root) => root?.querySelector("[data-case]")?.dataset.case;
const caseId = () => caseIn(detail());
const rowOfCase = () => document.getElementById(caseId());
const loadedRow = (event) => event.detail.requestConfig?.elt.closest("[data-open-row]")?.closest("[data-row]");
const decides = (element) => element.closest(".decide, .other, [data-group]");
const seenCases = new Set(); // that were displayed
let hadFocus = false;
let typedIn = null; // the field of a decision that is under way
let isDecided = false; // the open case

function noteCase() {
    isDecided = false;
    if (caseId() && !isListAlone()) seenCases.add(caseId());
    measureBar();
}

document.addEventListener("htmx:beforeRequest", (event) => {
    if (!detail() || !(loadedRow(event) || decides(event.target))) return;
    hadFocus ||= detail().contains(document.activeElement);
    typedIn = detail().contains(document.activeElement) ? document.activeElement : null;
    detail().inert = true;
});
document.addEventListener("htmx:beforeSwap", (event) => {
    const row = loadedRow(event);
    if (row && row !== currentRow()) event.detail.shouldSwap = false;
});
document.addEventListener("htmx:afterRequest", (event) => {
    const row = loadedRow(event);
    if (!detail() || (row ? row !== currentRow() || willRetry(event) : !decides(event.target))) return;
    if (row && event.detail.xhr.status === 200) showCase(row);
    else if (row && !isDecided) makeCurrent(rowOfCase(), { open: false });
    if (!isLoading()) detail().inert = isDecided;
    if (!row && !isDecided) typedIn?.focus({ preventScroll: true }); // it was refused
    if (row) hadFocus = false;
});

function showCase(row) {
    openCase();
    noteCase();
    detail().inert = false;
    detail().scrollTop = 0;
    if (hadFocus) detail().querySelector("[data-case]")?.focus({ preventScroll: true });
    keepOpen(row);
}

// --- on a phone, the list and the open case are shown one at a time
const panes = () => document.querySelector(".panes");
const isListAlone = () => Boolean(detail()) && !detail().checkVisibility();

function openCase() {
    if (isListAlone()) history.pushState({ ...history.state, isCase: true }, "");
    panes()?.setAttribute("data-open", "");
    if (matchMedia("(max-width: 700px)").matches) scrollTo(0, 0);
}
function closeCase() {
    panes()?.removeAttribute("data-open");
    keepOpen(null);
    currentRow()?.scrollIntoView({ block: "center" });
}
document.addEventListener("click", (event) => {
    if (event.target.closest("[data-shows-list]")) history.state?.isCase ? history.back() : closeCase();
});
addEventListener("popstate", () => list() && closeCase());

// --- decided rows leave the list, skipped ones go to its end, and the next one becomes current
const namedRows = (event, header) => (event.detail.xhr.getResponseHeader(header) ?? "").split(" ").filter(Boolean);

document.addEventListener("htmx:beforeSwap", (event) => {
    const [shown] = namedRows(event, "X-Next-Row");
    leave(namedRows(event, "X-Gone-Rows"), { isSkipped: false, shown });
    leave(namedRows(event, "X-Skipped-Rows"), { isSkipped: true, shown });
});

function rowAfter(leaving) {
    const known = rows();
    return known.slice(Math.max(0, known.indexOf(leaving[0]))).find((row) => !leaving.includes(row));
}
// A decision about the open case names the next one, which comes with the answer.
document.addEventListener("htmx:configRequest", (event) => {
    const decidesCase = event.target.closest(".decide") && !event.target.closest("[data-group]");
    const next = list() && decidesCase && rowAfter([rowOfCase()]);
    if (!next) return;
    event.detail.parameters.next = idOf(next);
    event.detail.path += location.search; // a memory is shown with those that have its words, within the filters
});
document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.detail.target === detail()) event.detail.shouldSwap = caseIn(event.detail.fragment) === currentRow()?.id;
});
document.addEventListener("htmx:oobAfterSwap", (event) => {
    if (event.detail.target !== detail()) return;
    showCase(currentRow());
    hadFocus = false;
});

function leave(ids, { isSkipped, shown }) {
    const leaving = ids.map((id) => document.getElementById(id)).filter((row) => row?.matches("[data-row]"));
    const isCaseGone = Boolean(list()) && ids.includes(caseId());
    if (!leaving.length && !isCaseGone) return;
    isDecided ||= isCaseGone;
    const next = rowAfter(leaving);
    const previous = rows().slice(0, rows().indexOf(next ?? leaving[0])).findLast((row) => !leaving.includes(row));
    const wasCurrent = leaving.includes(currentRow()) || isCaseGone;
    hadFocus ||= leaving.some((row) => row.contains(document.activeElement));
    for (const row of leaving) {
        if (isSkipped && !hasMore()) row.parentElement.append(row);
        else row.remove();
    }
    countSelected();
    if (!rows().length) {
        document.getElementById("main").focus({ preventScroll: true });
        reloadList({});
    } else if (wasCurrent && !next && hasMore()) reloadList({ after: idOf(previous) });
    else if (wasCurrent) {
        const opened = next ?? (isSkipped ? rows()[0] : previous);
        makeCurrent(opened, { open: opened.id !== shown });
    }
}

// The row of a decision fades immediately and comes back if the server refuses.
document.addEventListener("htmx:beforeRequest", (event) => {
    const bulk = event.target.closest("[data-bulk]");
    if (bulk) {
        bulk.inert = true;
        for (const row of selectedRows()) row.classList.add("leaving");
    } else if (decides(event.target)) rowOfCase()?.classList.add("leaving");
    const form = event.target.closest("[data-once]");
    if (form) form.closest(".toast").hidden = true;
});
document.addEventListener("htmx:afterRequest", (event) => {
    for (const row of all(".leaving")) row.classList.remove("leaving");
    const bulk = event.target.closest?.("[data-bulk]");
    if (bulk) bulk.inert = false;
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
    const held = selectedRows().reduce((sum, row) => sum + Number(row.dataset.holds ?? 1), 0);
    bar.toggleAttribute("data-has-selection", chosen > 0);
    bar.querySelector("[data-bulk-count]").textContent = String(held);
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
    else if (event.target.matches(".members input")) countMembers();
    else countSelected();
});
document.addEventListener("htmx:load", countSelected);
// Of the members of an open group, those with a tick are decided about.
function countMembers() {
    const chosen = all(".members input:checked").length;
    for (const each of all("[data-group-count]")) each.textContent = String(chosen);
    for (const each of all("[data-group] button[data-key=a]")) each.disabled = chosen === 0;
}
noteCase();
