/** Sentence, headlines, figures, and the line under them. */
export const CONTENT = `
.message > p { margin-top: 12px; max-width: 60ch; }
.login label { display: block; font-weight: 600; margin-bottom: 4px; }
.login p { margin-top: 16px; }
.login input { width: 100%; max-width: 26rem; }
.problem { color: var(--failed); }
.logout { padding-bottom: 24px; }
main.wide { padding-top: 32px; }
.sentence { text-wrap: pretty; margin-top: 6px; max-width: 40em; font-size: 1.0625rem; line-height: 1.5; color: var(--ink-2); }
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
.figure { margin-top: 34px; min-width: 0; }
.subtitle { font-size: 0.8125rem; color: var(--ink-2); }
.pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); column-gap: 40px; }
.pair > .figure { display: grid; grid-row: span 3; grid-template: subgrid / minmax(0, 1fr); }
.empty { margin-top: 10px; padding: 10px 0; border: solid var(--hairline); border-width: 1px 0; color: var(--ink-2); overflow-wrap: anywhere; }
.empty code { color: var(--ink); }
.notes { text-wrap: pretty; margin-top: 8px; font-size: 0.8125rem; color: var(--ink-2); max-width: 52em; }
.notes li + li { margin-top: 2px; }
.sources { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; margin-top: 10px; font-size: 0.75rem; color: var(--ink-2); }
.sources > details[open] { flex: 0 0 100%; min-width: 0; }
.sources > details > summary { display: inline-block; padding: 3px 0; list-style: none; text-decoration: underline; text-decoration-color: var(--ink-3); text-underline-offset: 3px; }
.sources > details > summary::-webkit-details-marker { display: none; }
.sources > details > summary:hover { color: var(--ink); text-decoration-color: currentColor; }
.sources > details[open] > summary { color: var(--ink); text-decoration-color: var(--accent); text-decoration-thickness: 2px; }
time { white-space: nowrap; }
.basis { margin-left: auto; padding: 3px 0; text-align: right; overflow-wrap: anywhere; }
.query { margin: 6px 0 14px; }
.query p { color: var(--ink-2); margin-bottom: 4px; overflow-wrap: anywhere; }
.query pre { position: relative; max-height: 320px; overflow: auto; padding: 12px 14px; background: var(--wash); color: var(--ink); white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; tab-size: 2; }
.query pre code { font-size: 0.75rem; }
.query .copy { float: right; min-height: 28px; padding: 2px 10px; margin-left: 12px; font-size: 0.75rem; }
.search { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin-top: 22px; }
.search label { display: grid; gap: 2px; font-size: 0.8125rem; color: var(--ink-2); flex: 0 1 400px; }
.search input { color: var(--ink); width: 100%; }
.pager { display: flex; gap: 20px; margin-top: 24px; font-size: 0.875rem; }
@media (max-width: 900px) {
  .pair { grid-template-columns: minmax(0, 1fr); }
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
