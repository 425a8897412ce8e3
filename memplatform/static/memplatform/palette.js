"use strict";
// The palette: Ctrl+K or ⌘K opens it, arrows choose, Enter goes. The server finds; one request per pause in typing.

const palette = document.getElementById("palette");
const paletteInput = palette?.querySelector("input");
const paletteOptions = () => all("[role=option]", palette);
const chosenOption = () => palette.querySelector("[role=option][aria-selected=true]");
let shownText = null; // what the shown options were found for
let goesWhenFound = false; // Enter was pressed before the answer came

function openPalette() {
    if (!palette || document.querySelector("dialog[open]")) return;
    palette.showModal();
    paletteInput.select();
    shownText = null;
    htmx.trigger(paletteInput, "opened");
}

function choose(option) {
    for (const each of paletteOptions()) each.setAttribute("aria-selected", String(each === option));
    if (option) paletteInput.setAttribute("aria-activedescendant", option.id);
    else paletteInput.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
}

function chooseNext(step) {
    const options = paletteOptions();
    if (!options.length) return;
    const at = options.indexOf(chosenOption());
    choose(options[(at + step + options.length) % options.length]);
}

const paletteKeys = {
    ArrowDown: () => chooseNext(1),
    ArrowUp: () => chooseNext(-1),
    Enter: () => {
        if (paletteInput.value === shownText) chosenOption()?.click();
        else goesWhenFound = true;
    },
    Escape: () => palette.close(),
};

document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        if (palette?.open) palette.close();
        else openPalette();
    }
});
document.addEventListener("click", (event) => {
    if (event.target.closest("[data-opens-palette]")) openPalette();
    else if (event.target === palette) palette.close(); // beside the dialog
});
paletteInput?.addEventListener("keydown", (event) => {
    if (!paletteKeys[event.key] || event.isComposing) return;
    event.preventDefault();
    paletteKeys[event.key]();
});
paletteInput?.addEventListener("input", () => {
    goesWhenFound = false;
});
palette?.addEventListener("htmx:afterSwap", (event) => {
    shownText = event.detail.requestConfig.parameters.q;
    if (shownText !== paletteInput.value) return; // out of date: another answer follows
    choose(paletteOptions()[0]);
    if (goesWhenFound) chosenOption()?.click();
    goesWhenFound = false;
});
palette?.addEventListener("close", () => {
    goesWhenFound = false;
});
