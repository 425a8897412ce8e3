"use strict";
// Draws the JSON of each [data-plot] with uPlot in the colours of theme.css; redraws when the theme changes.

const TONES = ["--mp-line-1", "--mp-line-2", "--mp-line-3", "--mp-line-4", "--mp-line-5", "--mp-line-6", "--mp-line-7"];
const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

// light-dark() in a custom property is only resolved where the property is used.
function colour(name) {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
}

const FORMATS = {
    percent: (value) => (value == null ? "–" : `${(value * 100).toFixed(value === 0 || value >= 0.1 ? 0 : value < 0.01 ? 2 : 1)}%`),
    dollars: (value) => (value == null ? "–" : `$${value.toPrecision(2)}`),
};

// Times are UTC; midnight is labelled with the date.
function marks(plot, seconds) {
    const hourly = plot.data[0].length > 1 && plot.data[0][1] - plot.data[0][0] < 86400;
    return seconds.map((second) => {
        const text = new Date(second * 1000).toISOString();
        return hourly && text.slice(11, 16) !== "00:00" ? text.slice(11, 16) : text.slice(5, 10);
    });
}

function band(given) {
    if (!given) return [];
    const draw = (plot) => {
        const [low, high] = given.map((value) => plot.valToPos(value, "y", true));
        plot.ctx.save();
        plot.ctx.fillStyle = colour("--mp-band");
        plot.ctx.fillRect(plot.bbox.left, high, plot.bbox.width, low - high);
        plot.ctx.restore();
    };
    return [{ hooks: { drawClear: draw } }];
}

function options(element, data, isSmall) {
    const format = FORMATS[data.unit];
    const quiet = colour("--mp-ink-quiet");
    const axis = { stroke: quiet, grid: { stroke: colour("--mp-line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    const top = Math.max(data.band ? data.band[1] * 1.25 : 0, ...data.lines.flatMap((line) => line.values.map((value) => value ?? 0)));
    return {
        width: element.clientWidth,
        height: isSmall ? 90 : 240,
        plugins: band(data.band),
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
        scales: { y: { range: [0, data.unit === "percent" ? Math.min(1, top * 1.05 || 1) : top * 1.05 || 1] } },
        legend: { show: !isSmall },
        cursor: { points: { size: 6 } },
        axes: [
            { ...axis, size: 26, space: isSmall ? 70 : 60, values: marks },
            { ...axis, size: isSmall ? 40 : 48, space: isSmall ? 28 : 36, values: (_, shares) => shares.map(format) },
        ],
        series: [
            { value: (_, seconds) => (seconds == null ? "–" : new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")) },
            ...data.lines.map((line, place) => ({
                label: line.label,
                stroke: colour(TONES[place % TONES.length]),
                width: 2,
                spanGaps: false,
                points: { show: line.values.filter((value) => value != null).length < 40, size: 5 },
                value: (_, value) => format(value),
            })),
        ],
    };
}

function drawAll() {
    for (const element of document.querySelectorAll("[data-plot]")) {
        element.replaceChildren();
        if (!element.clientWidth) continue; // folded away: drawn once it is unfolded
        const data = JSON.parse(element.dataset.plot);
        new uPlot(options(element, data, element.classList.contains("plot-small")), [data.times, ...data.lines.map((line) => line.values)], element);
    }
}

drawAll();
let wait = 0;
let width = innerWidth;
addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(wait);
    wait = setTimeout(drawAll, 150);
});
document.addEventListener("toggle", (event) => event.target.matches(".folded") && drawAll(), true);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
