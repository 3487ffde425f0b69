// Streamlit's toolbar of a chart saves it as PNG. The charts are drawn as SVG, so beside that button goes one that saves the drawing
// itself: made here in the browser, from what is on the screen, in its colours, and sent nowhere. Curator-only charts are not offered.
(() => {
  const GUARDED = '[class*="st-key-curator_chart"], [class*="st-key-zone_curator"]';
  const MARGIN = 14;
  const name = (drawing) => {
    const title = drawing.querySelector(".role-title-text text")?.textContent ?? "";
    return (title.toLowerCase().match(/[a-z0-9]+/g) ?? ["chart"]).join("-").slice(0, 60);
  };
  const save = (drawing) => {
    const copy = drawing.cloneNode(true);
    const [width, height] = ["width", "height"].map((side) => Number(drawing.getAttribute(side)) + 2 * MARGIN);
    const fill = getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor;
    const put = (node, values) => Object.entries(values).forEach(([key, value]) => node.setAttribute(key, value));
    put(copy, { width, height, viewBox: `${-MARGIN} ${-MARGIN} ${width} ${height}` });
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    put(ground, { x: -MARGIN, y: -MARGIN, width, height, fill });
    copy.prepend(ground);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    link.download = `${name(drawing)}.svg`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);  // the browser fetches it after the click
  };
  const offer = () => {
    for (const toolbar of document.querySelectorAll('[data-testid="stElementToolbar"]')) {
      const png = toolbar.querySelector('button[aria-label^="Download as PNG"]');
      const ours = toolbar.querySelector(".save-as-svg");
      const drawing = () => toolbar.parentElement?.querySelector('[data-testid="stVegaLiteChart"] svg.marks');
      if (!png || toolbar.closest(GUARDED)) ours?.remove();
      else if (!ours && drawing()) {
        const holder = png.closest('[data-testid="stElementToolbarButton"]').cloneNode(true);
        const button = holder.querySelector("button");
        holder.classList.add("save-as-svg");
        button.setAttribute("aria-label", png.getAttribute("aria-label").replace("PNG", "SVG"));
        button.title = "Download as SVG";
        button.textContent = "SVG";
        button.addEventListener("click", (event) => {
          event.stopPropagation();
          if (drawing()) save(drawing());
        });
        png.closest('[data-testid="stElementToolbarButton"]').after(holder);
      }
    }
  };
  offer();
  window.offerDrawings ??= new MutationObserver(offer).observe(document.body, { childList: true, subtree: true }) ?? true;
})();
