"use strict";
// Set the theme before the first paint; the admin's theme switch uses the same key.
document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";
