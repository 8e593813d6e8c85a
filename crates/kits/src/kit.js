
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  if (location.protocol === "file:") root.classList.add("from-file");

  const themes = ["light", "dark"];
  const asked = new URLSearchParams(location.search).get("theme");
  if (themes.includes(asked)) root.dataset.theme = asked;

  const theme = () => {
    const carry = () => {
      for (const link of document.querySelectorAll("a[data-kit]")) {
        const url = new URL(link.href);
        if (root.dataset.theme) url.searchParams.set("theme", root.dataset.theme);
        else url.searchParams.delete("theme");
        link.href = url.href;
      }
    };
    for (const input of document.querySelectorAll("input[name=theme]")) {
      input.checked = input.value === (root.dataset.theme || "auto");
      input.addEventListener("change", () => {
        if (themes.includes(input.value)) root.dataset.theme = input.value;
        else delete root.dataset.theme;
        carry();
      });
    }
    if (root.dataset.theme) carry();
  };

  const compare = (view) => {
    const range = view.querySelector("input[type=range]");
    const svg = view.querySelector("svg");
    const after = svg.querySelector(".after");
    const clip = svg.querySelector(".clip");
    const edge = svg.querySelector(".edge");
    const { width, height } = svg.viewBox.baseVal;
    const draw = () => {
      const share = range.value / 100;
      if (!clip) {
        after.setAttribute("opacity", share);
        return;
      }
      clip.setAttribute("x", width * share);
      clip.setAttribute("width", width * (1 - share));
      edge.setAttribute("d", `M${width * share} 0V${height}`);
    };
    range.addEventListener("input", draw);
    if (clip) {
      const follow = (event) => {
        const box = svg.getBoundingClientRect();
        range.value = ((event.clientX - box.left) / box.width) * 100;
        draw();
      };
      svg.addEventListener("pointerdown", (event) => {
        svg.setPointerCapture(event.pointerId);
        follow(event);
        event.preventDefault();
      });
      svg.addEventListener("pointermove", (event) => {
        if (svg.hasPointerCapture(event.pointerId)) follow(event);
      });
    }
    draw();
  };

  const filter = (input) => {
    const rows = [...document.querySelectorAll("[data-row]")];
    const texts = rows.map((row) => row.querySelector("h3").textContent.toLowerCase());
    const told = document.querySelector("[data-told]");
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase().split(/\s+/);
      let seen = 0;
      rows.forEach((row, i) => {
        row.hidden = !wanted.every((word) => texts[i].includes(word));
        if (!row.hidden) seen += 1;
      });
      told.textContent = input.value.trim() ? `${seen} of ${rows.length}` : "";
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    theme();
    document.querySelectorAll("[data-compare]").forEach(compare);
    document.querySelectorAll("input[data-filter]").forEach(filter);
  });
})();
