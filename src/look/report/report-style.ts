import { styleSheet } from '../style/sheet.ts';

/** The style of a report: that of all pages, and what a document with several pages needs besides. */
export const reportStyle: string = `${styleSheet}
header.report{padding-top:40px}
header.report .about{margin:0;color:var(--ink-2)}
header.report h1{margin:4px 0 12px}
.contents ol{display:flex;flex-wrap:wrap;gap:4px 20px;margin:0;padding:0 0 24px;list-style:none;border-bottom:1px solid var(--hairline)}
.contents li{margin:0}
article.wide{padding-top:44px;scroll-margin-top:8px}
article+article{border-top:1px solid var(--hairline);margin-top:44px}
.reports{padding-left:20px}
@media print{article+article{break-before:page;border-top:0;margin-top:0;padding-top:0}}
`;
