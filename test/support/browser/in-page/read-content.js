// Runs in the browser. Lists figures that show nothing and do not say why, and texts that are cut off.
(() => {
  const nameOf = (element) => `${element.localName}.${element.getAttribute('class') ?? ''}`;
  const titleOf = (section) => section.querySelector('h2, h3')?.textContent ?? 'a figure without a title';

  /** A drawing has marks besides its axes and its grid. */
  const isDrawn = (chart) =>
    [...chart.querySelectorAll('svg:not(.axis) :is(rect, path, circle, use)')].some((mark) => {
      const { width, height } = mark.getBoundingClientRect();
      return width + height > 0;
    });
  const contentOf = (section) => {
    const reason = section.querySelector('.empty');
    if (reason !== null) return reason.textContent.trim().length > 15 ? [] : ['a reason of no words'];
    const chart = section.querySelector('.chart');
    if (chart !== null) return isDrawn(chart) ? [] : ['an empty drawing'];
    return section.querySelector('tbody tr') === null ? ['neither a drawing nor a row'] : [];
  };
  const sections = [...document.querySelectorAll('section.figure')];
  const empty = sections.flatMap((section) =>
    contentOf(section).map((problem) => `${titleOf(section)}: ${problem}`),
  );

  // What scrolls can be read; what is hidden on purpose has a name; a name in a row of one line is cut, and whole in its title.
  const isCut = (element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const hides = [overflowX, overflowY].some((overflow) => ['hidden', 'clip'].includes(overflow));
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
    return hides && (scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1);
  };
  const isWholeInTitle = (element) =>
    getComputedStyle(element).textOverflow === 'ellipsis' &&
    element.title !== '' &&
    element.title.startsWith(element.textContent.trim());
  const boxes = [...document.querySelectorAll('body *:not(.hidden, svg, svg *)')].filter(
    (element) => element.checkVisibility() && isCut(element) && !isWholeInTitle(element),
  );
  const labels = [...document.querySelectorAll('.plot text')].filter((label) => {
    const { left, right } = label.getBoundingClientRect();
    const frame = label.ownerSVGElement.getBoundingClientRect();
    return label.textContent.includes('\u2026') || left < frame.left - 40 || right > frame.right + 1;
  });
  const cut = [...boxes, ...labels].map(
    (element) => `${nameOf(element)}: ${element.textContent.trim().slice(0, 60)}`,
  );
  return { figures: sections.length, empty, cut };
})();
