(width) => {
  const found = [];
  for (const element of document.querySelectorAll("main *")) {
    if (!element.checkVisibility() || element.closest("pre, .unseen, svg")) continue;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const clips = style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
    if (clips || box.right > width + 1 || box.left < -1) found.push(element.outerHTML.slice(0, 200));
  }
  return found;
}
