/** Charts, marks and tables. */
export const DRAWINGS = `
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
svg.bar { display: block; overflow: hidden; }
td.state { white-space: nowrap; }
.folded table { width: auto; min-width: min(100%, 320px); font-size: 0.8125rem; }
.folded tbody th, .folded tbody td { padding-top: 4px; padding-bottom: 4px; padding-right: 24px; }
.folded thead th { position: sticky; top: 0; background: var(--paper); padding-right: 24px; }
@media (max-width: 600px) {
  .spare { display: none; }
  table { font-size: 0.8125rem; }
  tbody th, tbody td, thead th { padding-right: 8px; }
  td.bar { min-width: 40px; width: 20%; }
}
`;
