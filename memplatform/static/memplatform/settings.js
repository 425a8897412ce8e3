"use strict";
// The search of the configuration: settings without the words are hidden, sections without a setting left as well.

const search = document.querySelector("[data-filters-settings]");
const expert = document.querySelector("[data-expert]");
const wasExpertOpen = expert.open;
const wereOpen = new Map(all("[data-section]").map((section) => [section, section.open]));

function filterSettings() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const section of wereOpen.keys()) {
        const title = section.querySelector("summary").textContent;
        const settings = all("[data-setting]", section);
        for (const setting of settings) {
            const text = `${title} ${setting.textContent}`.toLowerCase();
            setting.hidden = !words.every((word) => text.includes(word));
        }
        const left = settings.filter((setting) => !setting.hidden).length;
        section.hidden = left === 0;
        section.open = words.length ? left > 0 : wereOpen.get(section);
        found += left;
    }
    expert.open = words.length ? true : wasExpertOpen;
    expert.hidden = all("[data-section]", expert).every((section) => section.hidden);
    document.querySelector("[data-no-setting]").hidden = found > 0;
}
search.addEventListener("input", (event) => {
    event.stopPropagation(); // it changes no setting
    filterSettings();
});
search.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
