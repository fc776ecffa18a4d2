// A page that was opened from a disk may neither fetch the index of the search nor start a worker from another file. There both come
// with a script, which hooks.py writes.
if (location.protocol === "file:") {
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  document.write(`<script src="${folder}search/search_index.js"><\/script>`);
}
