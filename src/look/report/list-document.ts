import { html } from 'hono/html';
import { footerHtml } from '../html/page.ts';
import { titleText } from '../html/text.ts';
import { periodHeading } from '../words/spans.ts';
import { documentOf, type ReportSubject } from './document.ts';

/** The list of the reports of teams, with links that hold wherever the folder is. */
export function listDocument(
  reports: readonly (readonly [team: string, file: string])[],
  { filters, viewer }: ReportSubject,
): Promise<string> {
  const heading = periodHeading(filters);
  const body = html`<main id="content" class="wide"><h1>${heading}</h1>
<p class="sentence">${reports.length === 0 ? 'No team is reported.' : `Reports of ${reports.length === 1 ? 'one team' : `${reports.length} teams`}.`}</p>
<ul class="reports">${reports.map(([team, file]) => html`<li><a href="${file}"><bdi>${team.trim() === '' ? file : team}</bdi></a></li>`)}</ul></main>
${footerHtml({ navigation: [], organization: filters.orgId, filters, href: () => null, footer: footerOf(filters.orgId, viewer) })}`;
  return documentOf(titleText(['Reports', heading, filters.orgId, 'Daywalk']), body);
}

function footerOf(orgId: string, { audience, minGroup }: ReportSubject['viewer']): string[] {
  if (audience === 'managers') return ['Daywalk', orgId];
  return ['Daywalk', orgId, `Teams of fewer than ${minGroup} active people are not reported.`];
}
