"use strict";
// Light or dark before the first paint; the admin's switch writes the same key.
document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";
