// Runs in the browser. Counts the marks of drawings, and lists those in the color of the paper.
(() => {
  const paper = getComputedStyle(document.body).backgroundColor;
  const marks = [...document.querySelectorAll('.chart rect, .chart path')].filter((mark) =>
    mark.checkVisibility(),
  );
  const isHidden = (color) => color === 'none' || color === paper;
  const invisible = marks.filter((mark) => {
    const { fill, stroke } = getComputedStyle(mark);
    return isHidden(fill) && isHidden(stroke);
  });
  return {
    marks: marks.length,
    invisible: invisible.slice(0, 5).map((mark) => mark.outerHTML.slice(0, 200)),
  };
})();
