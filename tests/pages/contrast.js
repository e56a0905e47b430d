() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function rgba(colour) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  }
  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }
  function ground(element) {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 1) return colour;
      if (colour[3] > 0) throw new Error("half-transparent background");
    }
    return [255, 255, 255, 1];
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || element.closest("title, desc, style, script") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const inks = [luminance(rgba(element.closest("svg") ? style.fill : style.color)), luminance(ground(element))];
    found.push([(Math.max(...inks) + 0.05) / (Math.min(...inks) + 0.05), text.slice(0, 40)]);
  }
  return found;
}
