"use strict";
// Lists with many columns become cards on a phone (console.css): each cell gets the name of its column. The roles are
// those that the elements lose by being shown as blocks.

function nameCells(root) {
    const tables = root.matches?.("table.stacks") ? [root] : root.querySelectorAll("table.stacks");
    for (const table of tables) {
        table.setAttribute("role", "table");
        const names = [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim());
        for (const row of table.querySelectorAll("tbody tr")) {
            row.setAttribute("role", "row");
            [...row.cells].forEach((cell, place) => {
                cell.setAttribute("role", "cell");
                if (cell.colSpan === 1 && names[place]) cell.dataset.column = names[place];
            });
        }
    }
}
nameCells(document);
document.addEventListener("htmx:load", (event) => nameCells(event.target));
