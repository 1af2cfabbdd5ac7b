// Runs in the browser. Reads what a page claims: its queries, its numbers, and every other text with a digit.
(() => {
  const words = (text) => (text ?? '').split(' ').filter((word) => word !== '');
  const short = (text) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 160);

  /** The title of the figure and the start of the line: where a person would look for it. */
  const placeOf = (element) => {
    const title = element.closest('section')?.querySelector('h2, h3')?.textContent ?? '';
    const line = element.closest('tr, p, li, dd, dt, h1') ?? element;
    return short(`${title}: ${line.textContent}`);
  };

  /** Words beside a number that may name its unit: the column's title, the subtitle, the text after it. */
  const unitsOf = (element) => {
    const cell = element.closest('td, th');
    const column = cell?.closest('table')?.querySelectorAll('thead tr > *')[cell.cellIndex]?.textContent;
    const subtitle = element.closest('section')?.querySelector('.subtitle')?.textContent;
    return [column ?? '', subtitle ?? ''];
  };

  const afterOf = (element) => {
    const block = element.closest('p, li, td, th, dd') ?? element;
    const range = document.createRange();
    range.setStartAfter(element);
    range.setEndAfter(block);
    return range.toString().slice(0, 80);
  };

  const queries = [...document.querySelectorAll('code[data-query]')].map((code) => ({
    id: code.dataset.query,
    sql: code.textContent,
    from: code.dataset.from,
    until: code.dataset.until,
    expected: Number(code.dataset.expected),
    settled: Number(code.dataset.settled),
    unsettled: words(code.dataset.unsettled),
    missing: words(code.dataset.missing),
  }));
  const numbers = [...document.querySelectorAll('data')].map((element) => ({
    value: element.getAttribute('value') ?? '',
    formula: element.dataset.formula ?? '',
    text: element.textContent,
    after: afterOf(element),
    units: unitsOf(element),
    place: placeOf(element),
  }));
  const absent = [...document.querySelectorAll('.none')].map((element) => ({
    formula: element.dataset.formula ?? '',
    reason: element.title,
    place: placeOf(element),
  }));

  // Text that has another origin: numbers and times with their exact value, what people typed, SQL, drawings.
  const exempt = 'data, time, bdi, code, svg, .none, .basis, button, input, select, script, style';
  const claims = 'main h1, main .sentence, main dt, main dd, main td, main th, main .notes li, main .empty';
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!/\d/.test(node.data) || parent.closest(exempt) !== null || parent.closest(claims) === null) continue;
    texts.push({ text: node.data, place: placeOf(parent) });
  }
  return { queries, numbers, absent, texts };
})();
