// Runs in the browser. Reads how a page fits into its window, and what of its markup could only come from its data.
(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const beyond = [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 1 && element.checkVisibility())
    .filter((element) => element.closest('.chart, .table, pre, svg, .hidden, [hidden]') === null)
    .map(
      (element) =>
        `<${element.localName} class="${element.className}"> ${element.textContent.trim().slice(0, 60)}`,
    );
  const foreign = [...document.querySelectorAll('*')]
    .filter((element) => {
      const isScript =
        element.localName === 'script' && !element.src.startsWith(`${location.origin}/assets/`);
      const isActive = ['iframe', 'img', 'object', 'embed', 'base', 'style'].includes(element.localName);
      const attributes = element.getAttributeNames();
      return isScript || isActive || attributes.some((name) => /^on|^style$/.test(name));
    })
    .map((element) => element.outerHTML.slice(0, 200));
  return { overflow: scrollWidth - clientWidth, beyond: beyond.slice(0, 5), foreign: foreign.slice(0, 5) };
})();
