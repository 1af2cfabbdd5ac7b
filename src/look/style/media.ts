/** Paper, forced colors, and less motion. */
export const MEDIA = `
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --ink: #000; --ink-2: #444; --ink-3: #888; --hairline: #ccc; --wash: #fff; --hatch: #555;
    --accent: #3b4cca; --bar: #b9c1ee; --bar-weekend: #e1e4f5;
    --category-1: #3b4cca; --category-2: #7c86dd; --category-3: #c2762a; --category-4: #dba566; --others: #b4b9c2;
    --failed: #b3261e; --doubted: #8a5a00;
  }
  @page { margin: 14mm 12mm; }
  body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .top nav, .panel, .skip, .search, .pager, .copy, .sources > .sql, .sources > .folded > summary { display: none; }
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
    --accent: CanvasText; --hatch: CanvasText; --failed: CanvasText; --doubted: CanvasText;
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
