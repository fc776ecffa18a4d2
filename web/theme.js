"use strict";
// The button #theme changes between light and dark, which begins as the system has it.
(() => {
  const root = document.documentElement, button = document.getElementById("theme"), system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.setAttribute("aria-label", "Change between light and dark");
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();
})();
