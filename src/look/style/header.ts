/** The head of the page: navigation, period, filters. */
export const HEADER = `
.top { border-bottom: 1px solid var(--hairline); }
.top > .wide { display: flex; flex-wrap: wrap; align-items: stretch; justify-content: space-between; column-gap: 8px; }
.top nav { display: flex; min-width: 0; overflow-x: auto; scrollbar-width: none; }
.top nav::-webkit-scrollbar { display: none; }
.top nav ul { display: flex; }
.top nav a { display: block; padding: 14px 6px 11px; color: var(--ink-2); text-decoration: none; white-space: nowrap; border-bottom: 2px solid transparent; }
.top nav a:hover { color: var(--ink); }
.top nav a.brand { font-weight: 700; color: var(--ink); padding-left: 0; padding-right: 12px; }
.top nav a[aria-current] { scroll-initial-target: nearest; color: var(--ink); border-bottom-color: var(--accent); }
.top nav a:focus-visible { outline-offset: -2px; }
.about { padding: 13px 0; color: var(--ink-2); }
.filters { display: contents; }
.filters > summary { padding: 14px 0 11px; color: var(--ink-2); list-style: none; margin-left: auto; max-width: 100%; overflow-wrap: anywhere; }
.filters > summary::-webkit-details-marker { display: none; }
.filters > summary::after { content: ""; display: inline-block; width: 6px; height: 6px; margin: 0 2px 3px 9px; border: solid currentColor; border-width: 0 1.5px 1.5px 0; transform: rotate(45deg); }
.filters[open] > summary::after { transform: rotate(225deg); margin-bottom: 0; }
.filters > summary:hover { color: var(--ink); }
.filters::details-content { flex: 0 0 100%; }
.panel { flex: 0 0 100%; display: flex; flex-wrap: wrap; gap: 12px 32px; align-items: end; justify-content: space-between; padding: 14px 0 18px; border-top: 1px solid var(--hairline); }
.presets { display: flex; flex-wrap: wrap; gap: 4px 18px; padding-bottom: 7px; }
.presets a[aria-current] { text-decoration-color: var(--accent); text-decoration-thickness: 2px; }
.panel form { display: flex; flex-wrap: wrap; gap: 10px 12px; align-items: end; }
.panel label { display: grid; gap: 2px; font-size: 0.8125rem; color: var(--ink-2); }
.panel input, .panel select { color: var(--ink); }
.panel select { max-width: 220px; }
@media (max-width: 800px) {
  .top nav a { padding-left: 4px; padding-right: 4px; }
}
@media (max-width: 600px) {
  .panel form { display: grid; grid-template-columns: 1fr 1fr; width: 100%; }
  .panel input, .panel select { width: 100%; min-width: 0; max-width: none; padding: 5px 6px; }
  .filters > summary { margin-left: 0; padding-top: 0; }
  .top nav { width: 100%; }
}
`;
