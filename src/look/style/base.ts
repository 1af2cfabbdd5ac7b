/** Text, links, focus, and what every page has. */
export const BASE = `
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 16px; }
body {
  margin: 0; background: var(--paper); color: var(--ink); font: 0.9375rem/1.5 var(--font);
  font-variant-numeric: tabular-nums; overflow-wrap: break-word;
}
.wide { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
h1, h2, h3, p, ul, dl, dd, pre { margin: 0; padding: 0; }
ul { list-style: none; }
h1, h2.page { text-wrap: balance; font-size: 1.6875rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h1 bdi, h2.page bdi { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
h2, h3 { font-size: 1rem; line-height: 1.4; font-weight: 650; }
a { color: inherit; text-decoration: underline; text-decoration-color: var(--ink-3); text-decoration-thickness: 1px; text-underline-offset: 3px; }
a:hover { text-decoration-color: currentColor; }
code, pre { font-family: var(--mono); font-size: 0.8125rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
.muted { color: var(--ink-2); }
i.muted, th.muted { font-style: italic; }
.hidden {
  position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.skip { position: absolute; left: 8px; top: -60px; z-index: 9; padding: 8px 16px; background: var(--paper); border: 1px solid var(--accent); }
.skip:focus { top: 8px; }
svg.shared { position: absolute; }
data, .none { white-space: nowrap; }
data.open { text-decoration: underline dotted; text-decoration-color: var(--ink-3); text-decoration-thickness: 2px; text-underline-offset: 4px; }
.none { color: var(--ink-2); }
summary { cursor: pointer; }
.long > summary { list-style-position: outside; }
.long[open] > summary { color: var(--ink-2); margin-bottom: 4px; }
.long { max-width: 60ch; overflow-wrap: anywhere; white-space: normal; }
button, input, select { font: inherit; font-size: 0.875rem; color: inherit; background: var(--paper); border: 1px solid var(--ink-3); border-radius: 4px; padding: 5px 10px; min-height: 36px; max-width: 100%; }
button { font-weight: 600; cursor: pointer; }
button:hover { border-color: var(--accent); color: var(--accent); }
footer.wide { margin-top: 48px; }
footer p { border-top: 1px solid var(--hairline); padding: 14px 0 40px; font-size: 0.75rem; color: var(--ink-2); overflow-wrap: anywhere; }
`;
