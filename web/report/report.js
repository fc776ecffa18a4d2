"use strict";
// Fills the page from its document. Sections whose part the document lacks stay hidden.
(() => {
  const {element} = charts;
  const report = JSON.parse(document.getElementById("document").textContent);

  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.setAttribute("aria-label", "Change between light and dark");
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();

  const contents = document.getElementById("contents");
  const sections = {certificate: renderCertificate, quality: renderQuality, learnt: renderLearnt};
  for (const [key, render] of Object.entries(sections)) {
    const section = document.getElementById(key);
    if (!section || !report[key]) continue;
    section.hidden = false;
    render(section, report[key], charts);
    contents.append(element("a", {href: `#${key}`}, section.querySelector("h2").textContent));
  }
  document.getElementById("footer").append(
    `Made by espalier ${report.version}. This page loads nothing from elsewhere. Its numbers are in its source, as JSON.`);
})();
