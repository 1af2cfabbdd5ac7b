// Runs in the browser. Marks everything that a keyboard must reach, and remembers what gets the focus and how it looks.
(() => {
  const selector = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"]';
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const scrolls = (element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const isWide = element.scrollWidth > element.clientWidth + 1 && ['auto', 'scroll'].includes(overflowX);
    const isHigh = element.scrollHeight > element.clientHeight + 1 && ['auto', 'scroll'].includes(overflowY);
    return isWide || isHigh;
  };
  // A region with a link in it scrolls to the link.
  const regions = [...document.querySelectorAll('body *')].filter(
    (element) => scrolls(element) && element.querySelector(selector) === null,
  );
  const wanted = [...new Set([...document.querySelectorAll(selector), ...regions])].filter(isShown);
  const nameOf = (element) =>
    `<${element.localName}> ${element.textContent.trim().slice(0, 40)} ${element.getAttribute('name') ?? ''}`;

  const reached = new Set();
  const unseen = new Set();
  document.addEventListener('focusin', ({ target }) => {
    reached.add(target);
    const { outlineStyle, outlineWidth } = getComputedStyle(target);
    const { width, height, top, bottom } = target.getBoundingClientRect();
    const isOutlined = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
    if (!isOutlined || width * height === 0 || bottom <= 0 || top >= innerHeight) unseen.add(nameOf(target));
  });
  globalThis.focusReport = () => ({
    wanted: wanted.length,
    missed: wanted.filter((element) => !reached.has(element)).map(nameOf),
    unseen: [...unseen],
  });
  return wanted.length;
})();
