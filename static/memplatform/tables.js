"use strict";
// Lists with many columns become cards on a phone (console.css): each cell gets the name of its column.

function nameCells(root) {
    const tables = root.matches?.("table.stacks") ? [root] : root.querySelectorAll("table.stacks");
    for (const table of tables) {
        const names = [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim());
        for (const row of table.querySelectorAll("tbody tr")) {
            [...row.cells].forEach((cell, place) => {
                if (cell.colSpan === 1 && names[place]) cell.dataset.column = names[place];
            });
        }
    }
}
nameCells(document);
document.addEventListener("htmx:load", (event) => nameCells(event.target));
