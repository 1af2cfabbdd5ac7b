/** Colors and fonts. Drawings use the same custom properties, so that one drawing serves every scheme. */
const TOKENS = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #15181e; --ink-2: #5a6270; --ink-3: #9aa1ad; --hairline: #e7e9ed; --wash: #f6f7f9;
  --accent: #3b4cca; --bar: #b9c1ee; --bar-weekend: #e1e4f5; --hatch: #8791dc;
  --category-1: #3b4cca; --category-2: #7c86dd; --category-3: #c2762a; --category-4: #dba566; --others: #b4b9c2;
  --failed: #b3261e; --doubted: #8a5a00; --stale: #fdf3dc; --before: #b4b9c2; --before-weekend: #dfe2e7;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #101318; --ink: #e9ebef; --ink-2: #a2a9b6; --ink-3: #6d7582; --hairline: #262b34; --wash: #171b22;
    --accent: #97a3ff; --bar: #414c94; --bar-weekend: #272d4e; --hatch: #6b77c9;
    --category-1: #8d9aff; --category-2: #5a67cf; --category-3: #e0a05a; --category-4: #9a6a33; --others: #5d6470;
    --failed: #ff8a80; --doubted: #e7b75c; --stale: #2b2415; --before: #5d6470; --before-weekend: #343a45;
  }
}
`;

/** Text, links, focus, and what every page has. */
const BASE = `
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

/** The head of the page: navigation, period, filters. */
const HEADER = `
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

/** Sentence, headlines, figures, and the line under them. */
const CONTENT = `
.message > p { margin-top: 12px; max-width: 60ch; }
.login label { display: block; font-weight: 600; margin-bottom: 4px; }
.login p { margin-top: 16px; }
.login input { width: 100%; max-width: 26rem; }
.problem { color: var(--failed); }
.logout { padding-bottom: 24px; }
main.wide { padding-top: 32px; }
.banner { margin-bottom: 30px; padding: 14px 18px; background: var(--stale); border-left: 4px solid var(--doubted); }
.banner p { max-width: 52em; overflow-wrap: anywhere; }
.banner p:first-child { font-size: 1.0625rem; }
.title { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 24px; }
.trust { font-size: 0.8125rem; color: var(--ink-2); }
.trust strong { font-weight: 600; color: var(--ink); }
.sentence { text-wrap: pretty; margin-top: 6px; max-width: 62em; font-size: 1.0625rem; line-height: 1.5; color: var(--ink-2); }
.sentence strong { color: var(--ink); font-weight: 650; }
.headlines { margin-top: 26px; }
.headlines dl { display: flex; border-top: 1px solid var(--hairline); border-bottom: 1px solid var(--hairline); }
.headlines dl > div { flex: 1 1 0; display: flex; flex-direction: column; min-width: 0; padding: 14px 20px 12px; border-left: 1px solid var(--hairline); }
.headlines dl > div:first-child { padding-left: 0; border-left: 0; }
.headlines dt { font-size: 0.8125rem; color: var(--ink-2); }
.headlines .main { font-size: 1.875rem; font-weight: 600; line-height: 1.3; letter-spacing: -0.01em; }
.headlines .main data.open { text-decoration-thickness: 3px; text-underline-offset: 6px; }
.headlines .unit { font-size: 0.9375rem; font-weight: 400; color: var(--ink-2); letter-spacing: 0; }
.headlines .change { font-size: 0.8125rem; color: var(--ink-2); margin-top: 4px; }
.headlines .change b { font-weight: 600; color: var(--ink); }
.headlines .weeks { margin: auto 0 0 -3px; padding-top: 8px; line-height: 0; }
.crumbs { margin-bottom: 6px; font-size: 0.8125rem; color: var(--ink-2); }
.choices { display: flex; flex-wrap: wrap; gap: 10px 36px; margin-top: 20px; padding: 12px 0; border: solid var(--hairline); border-width: 1px 0; font-size: 0.8125rem; }
.choices dt { color: var(--ink-2); }
.choices dd { max-width: 34ch; overflow-wrap: anywhere; }
a.opens { text-decoration: none; }
a.opens:hover, a.opens:focus-visible { text-decoration: underline; }
.figure { margin-top: 34px; min-width: 0; }
.subtitle { font-size: 0.8125rem; color: var(--ink-2); }
.pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); column-gap: 40px; }
.pair.uneven { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.pair thead th { white-space: normal; }
.pair > .figure { display: grid; grid-row: span 3; grid-template: subgrid / minmax(0, 1fr); }
.empty { margin-top: 10px; padding: 10px 0; border: solid var(--hairline); border-width: 1px 0; color: var(--ink-2); overflow-wrap: anywhere; }
.empty code { color: var(--ink); }
.notes { text-wrap: pretty; margin-top: 8px; font-size: 0.8125rem; color: var(--ink-2); max-width: 52em; }
.notes li + li { margin-top: 2px; }
.sources { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; margin-top: 10px; font-size: 0.75rem; color: var(--ink-2); }
.sources > details[open] { flex: 0 0 100%; min-width: 0; }
.sources > details > summary { display: inline-block; padding: 3px 0; list-style: none; text-decoration: underline; text-decoration-color: var(--ink-3); text-underline-offset: 3px; }
.sources > details > summary::-webkit-details-marker { display: none; }
.sources > .csv { padding: 3px 0; color: inherit; }
.sources > details > summary:hover { color: var(--ink); text-decoration-color: currentColor; }
.sources > details[open] > summary { color: var(--ink); text-decoration-color: var(--accent); text-decoration-thickness: 2px; }
time { white-space: nowrap; }
.basis { margin-left: auto; padding: 3px 0; text-align: right; overflow-wrap: anywhere; }
.query { margin: 6px 0 14px; }
.query p { color: var(--ink-2); margin-bottom: 4px; overflow-wrap: anywhere; }
.query pre { position: relative; max-height: 320px; overflow: auto; padding: 12px 14px; background: var(--wash); color: var(--ink); white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; tab-size: 2; }
.query pre code { font-size: 0.75rem; }
.query .copy { float: right; min-height: 28px; padding: 2px 10px; margin-left: 12px; font-size: 0.75rem; }
.search { display: flex; gap: 8px; margin-top: 22px; }
.search input { flex: 0 1 400px; min-width: 0; }
.pager { display: flex; gap: 20px; margin-top: 24px; font-size: 0.875rem; }
@media (max-width: 1120px) {
  .pair, .pair.uneven { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 700px) {
  .headlines dl { display: grid; grid-template-columns: 1fr 1fr; }
  .headlines dl > div { padding: 12px 12px 10px 16px; }
  .headlines dl > div:nth-child(odd) { padding-left: 0; border-left: 0; }
  .headlines dl > div:nth-child(n + 3) { border-top: 1px solid var(--hairline); }
}
@media (max-width: 600px) {
  main.wide { padding-top: 22px; }
  .basis { margin-left: 0; text-align: left; flex: 0 0 100%; padding-top: 0; text-wrap: pretty; }
  .headlines .main { font-size: 1.5625rem; }
}
`;

/** Charts, marks and tables. */
const DRAWINGS = `
.chart { margin-top: 10px; overflow-x: auto; direction: rtl; }
.drawing { direction: ltr; display: flex; align-items: flex-start; width: max-content; margin-right: auto; position: relative; }
.plot { display: block; flex: none; font: 12px/1 var(--font); font-variant-numeric: tabular-nums; overflow: visible; }
.plot text { fill: var(--ink-2); }
.plot text[fill="var(--ink)"] { fill: var(--ink); }
.plot.axis { position: sticky; left: 0; z-index: 1; background: var(--paper); }
.mark { flex: none; vertical-align: -1px; margin-right: 3px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin-top: 10px; font-size: 0.8125rem; color: var(--ink-2); }
.table { position: relative; margin-top: 10px; overflow-x: auto; max-width: 100%; }
.folded > .table { max-height: 420px; overflow: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; }
thead th, thead td { font-size: 0.75rem; font-weight: 400; color: var(--ink-2); text-align: start; vertical-align: bottom; padding: 4px 12px 6px 0; white-space: nowrap; }
thead a { text-decoration-color: var(--ink-3); }
.order { margin-left: 4px; }
tbody th { font-weight: 400; text-align: start; }
tbody th, tbody td { border-top: 1px solid var(--hairline); padding: 8px 12px 8px 0; vertical-align: top; }
tbody tr:last-child > * { border-bottom: 1px solid var(--hairline); }
th:last-child, td:last-child { padding-right: 0; }
.end { text-align: end; white-space: nowrap; }
.end + .end { padding-left: 4px; }
.text { overflow-wrap: anywhere; max-width: 44ch; min-width: 14ch; }
tbody th.text { min-width: 15ch; }
.prose { min-width: 32ch; }
.short { white-space: nowrap; }
td.bar { width: 26%; min-width: 72px; padding-top: 14px; }
td small, th small { display: block; font-size: 0.75rem; color: var(--ink-2); white-space: normal; }
svg.bar { display: block; overflow: hidden; }
td.state { white-space: nowrap; }
.folded table { width: auto; min-width: min(100%, 320px); font-size: 0.8125rem; }
.folded tbody th, .folded tbody td { padding-top: 4px; padding-bottom: 4px; padding-right: 24px; }
.folded thead th { position: sticky; top: 0; background: var(--paper); padding-right: 24px; }
.dense table { font-size: 0.8125rem; line-height: 1.15; }
.dense tbody th, .dense tbody td { padding-top: 1px; padding-bottom: 1px; white-space: nowrap; max-width: 26ch; min-width: 0; overflow: hidden; text-overflow: ellipsis; }
.list .dense wbr { display: none; }
.dense tbody tr:nth-child(10n) > * { border-bottom: 1px solid var(--ink-3); }
main.list { padding-top: 6px; }
.list > .title, .list > .title + .sentence { display: inline; font-size: 0.875rem; }
.list > .title h1 { display: inline; font-size: 1.3125rem; line-height: 1.2; }
.list > .title h1 bdi { display: inline; }
.list > .title h1 { margin-right: 8px; }
.list > .title + .sentence::after { content: ""; display: block; }
.list > .search { float: left; align-items: center; margin-top: 5px; max-width: 100%; }
.list > .search .trust { padding-left: 12px; white-space: nowrap; font-size: 0.75rem; }
.list > .search input, .list > .search button { font-size: 0.8125rem; padding: 3px 8px; min-height: 28px; }
.list > .search input { flex: 0 1 214px; min-width: 190px; }
.list > .search + .figure { margin-top: 0; }
.list > .search + .figure > .subtitle { text-align: end; padding-top: 10px; font-size: 0.75rem; }
.list > .search + .figure > div { clear: both; }
.list .dense { overflow: visible; margin-top: 2px; }
.list .dense table { table-layout: fixed; }
.list .dense thead th { position: sticky; top: 0; z-index: 1; background: var(--paper); box-shadow: 0 1px var(--hairline); padding-top: 3px; padding-bottom: 3px; overflow: hidden; text-overflow: ellipsis; }
.list .dense tbody th, .list .dense tbody td { max-width: none; }
.list .dense tbody tr:first-child > * { border-top-color: transparent; }
.list .dense :is(th, td):is(:nth-child(1)) { width: 38px; }
.list .dense :is(th, td):is(:nth-child(4), :nth-child(9)) { width: 84px; }
.list .dense :is(th, td):is(:nth-child(5), :nth-child(7)) { width: 66px; }
.list .dense :is(th, td):nth-child(6) { width: 190px; padding-left: 24px; }
.list .dense :is(th, td):nth-child(7) { padding-left: 0; }
.list .dense :is(th, td):nth-child(10) { width: 76px; color: var(--ink-2); }
@media (pointer: coarse) {
  .dense tbody th, .dense tbody td { padding-top: 10px; padding-bottom: 10px; }
  .list > .search input, .list > .search button { min-height: 36px; }
}
@media (max-width: 900px) {
  .list .dense :is(th, td):nth-child(6) { width: 110px; padding-left: 8px; }
  .list .dense :is(th, td):is(:nth-child(5), :nth-child(8), :nth-child(10)) { display: none; }
  .list .dense :is(th, td):nth-child(9) { padding-right: 0; }
}
@media (max-width: 1000px) {
  .list > .search { float: none; flex-wrap: wrap; }
  .list > .search .trust { flex: 0 0 100%; padding-left: 0; white-space: normal; }
  .list > .search + .figure > .subtitle { text-align: start; padding-top: 0; }
}
@media (max-width: 600px) {
  .spare { display: none; }
  main.list { padding: 6px 16px 0; }
  .list .dense :is(th, td):nth-child(1) { width: 28px; }
  .list .dense :is(th, td):nth-child(4) { width: 68px; }
  .list .dense :is(th, td):nth-child(6) { width: 72px; padding-left: 0; }
  .list .dense :is(th, td):nth-child(9) { width: 68px; padding-right: 0; }
  table { font-size: 0.8125rem; }
  tbody th, tbody td, thead th { padding-right: 8px; }
  td.bar { min-width: 40px; width: 20%; }
}
`;

/** Paper, forced colors, and less motion. */
const MEDIA = `
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --ink: #000; --ink-2: #444; --ink-3: #888; --hairline: #ccc; --wash: #fff; --hatch: #555;
    --accent: #3b4cca; --bar: #b9c1ee; --bar-weekend: #e1e4f5;
    --category-1: #3b4cca; --category-2: #7c86dd; --category-3: #c2762a; --category-4: #dba566; --others: #b4b9c2;
    --failed: #b3261e; --doubted: #8a5a00; --stale: #fff; --before: #b4b9c2; --before-weekend: #dfe2e7;
  }
  @page { margin: 14mm 12mm; }
  body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .top nav, .crumbs, .panel, .skip, .search, .pager, .copy, .sources > .sql, .sources > .folded > summary, .sources > .csv { display: none; }
  .top { border: 0; }
  .filters > summary { padding: 0; }
  .filters > summary::after { display: none; }
  .wide { max-width: none; padding: 0; }
  main.wide { padding-top: 8px; }
  .sources > .folded { order: 2; flex: 0 0 100%; }
  .folded::details-content { display: block; content-visibility: visible; block-size: auto; }
  .folded > .table, .table, .chart, .query pre { overflow: visible; max-height: none; }
  .folded table { font-size: 7.5pt; }
  .folded > .table { columns: 3; column-gap: 24px; }
  .folded > .table:has(thead th:nth-child(4)) { columns: 2; }
  .folded > .table:has(thead th:nth-child(6)) { columns: 1; }
  .folded tbody th, .folded tbody td { padding: 1px 8px 1px 0; }
  .folded thead th { position: static; padding-right: 8px; }
  .drawing { zoom: 0.62; }
  .pair .drawing { zoom: 1; }
  .plot.axis { position: relative; }
  .pair, .pair > .figure { display: block; }
  .figure h2, .figure h3, .subtitle { break-after: avoid; }
  .chart, .headlines, tr, .legend { break-inside: avoid; }
  a { text-decoration: none; }
  footer p { padding-bottom: 0; }
}
@media (forced-colors: active) {
  :root {
    --paper: Canvas; --ink: CanvasText; --ink-2: CanvasText; --ink-3: CanvasText; --wash: Canvas;
    --accent: CanvasText; --hatch: CanvasText; --failed: CanvasText; --doubted: CanvasText; --stale: Canvas;
    --before: color-mix(in srgb, CanvasText 30%, Canvas); --before-weekend: color-mix(in srgb, CanvasText 15%, Canvas);
    --hairline: color-mix(in srgb, CanvasText 20%, Canvas);
    --bar: color-mix(in srgb, CanvasText 40%, Canvas); --bar-weekend: color-mix(in srgb, CanvasText 20%, Canvas);
    --category-1: CanvasText; --category-2: color-mix(in srgb, CanvasText 70%, Canvas);
    --category-3: color-mix(in srgb, CanvasText 50%, Canvas); --category-4: color-mix(in srgb, CanvasText 35%, Canvas);
    --others: color-mix(in srgb, CanvasText 20%, Canvas);
  }
  .plot, .sparkline, .mark, svg.bar, svg.shared { forced-color-adjust: none; }
  .top nav a { border-bottom-color: Canvas; }
  .top nav a[aria-current] { border-bottom-color: CanvasText; }
}
@media (prefers-reduced-motion: no-preference) {
  .skip { transition: top 0.1s; }
}
`;

/** The style of all pages: the dashboard serves it as one file, a report holds it. */
export const styleSheet: string = [TOKENS, BASE, HEADER, CONTENT, DRAWINGS, MEDIA].join('');
