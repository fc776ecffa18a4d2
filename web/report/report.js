"use strict";
// Fills the page from its document. Sections whose part the document lacks stay hidden.
(() => {
  const {element} = charts;
  const report = JSON.parse(document.getElementById("document").textContent);

  const contents = document.getElementById("contents");
  const sections = {certificate: renderCertificate, quality: renderQuality, learnt: renderLearnt};
  for (const [key, render] of Object.entries(sections)) {
    const section = document.getElementById(key);
    if (!section || !report[key]) continue;
    section.hidden = false;
    render(section, report[key], charts, report.model && report.model.task);
    contents.append(element("a", {href: `#${key}`}, section.querySelector("h2").textContent));
  }
  document.getElementById("footer").append(
    `Made by espalier ${report.version}. This page loads nothing from elsewhere. Its numbers are in its source, as JSON.`);
})();
