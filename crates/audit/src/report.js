const search = document.getElementById("search");
const tool = document.getElementById("tool");
const outcome = document.getElementById("outcome");
const count = document.getElementById("count");
const calls = [...document.querySelectorAll(".call")];
function filter() {
  const text = search.value.trim().toLowerCase();
  let shown = 0;
  for (const call of calls) {
    const fits = (!tool.value || call.dataset.tool === tool.value)
      && (!outcome.value || call.dataset.outcome === outcome.value)
      && (!text || call.textContent.toLowerCase().includes(text));
    call.hidden = !fits;
    if (fits) shown += 1;
  }
  count.textContent = `${shown} of ${calls.length}`;
}
for (const control of [search, tool, outcome]) control.addEventListener("input", filter);
filter();
