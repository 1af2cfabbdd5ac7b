import { html } from 'hono/html';
import type { Markup } from '../html/text.ts';
import type { Bullet, Cell, Column, Phrase } from '../page.ts';
import { cellPieces, type Mail, type MailPart, type Piece, piecesOf, plainText, subjectOf } from './mail.ts';

const INK = '#15181e';
const SECOND = '#5a6270';
const HAIRLINE = '#e7e9ed';
const ACCENT = '#3b4cca';
const FORECAST = '#b9c1ee';
const STALE = '#fdf3dc';
const FONT =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',Arial,sans-serif";
const TABLE = 'width:100%;border-collapse:collapse;border-spacing:0';

/**
 * The HTML part of a mail: tables and inline styles, 600 pixels wide at most. Mail programs drop scripts, style sheets and drawings, and
 * ask before they load anything; it needs none of them.
 */
export async function htmlOf(mail: Mail): Promise<string> {
  const { about, title, banner, sentence, parts, open, footer } = mail;
  const text = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light"><title>${subjectOf(mail)}</title></head>
<body style="margin:0;padding:0;background-color:#ffffff;color:${INK}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;table-layout:fixed"><tr><td align="left" style="padding:20px 16px;${FONT};font-size:15px;line-height:1.5;color:${INK};overflow-wrap:anywhere;word-break:break-word">
<p style="margin:0;font-size:13px;color:${SECOND}">${plainText(about)}</p>
${banner === undefined ? '' : html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="${TABLE};margin:10px 0"><tr><td style="padding:10px 14px;background-color:${STALE}"><b>${plainText(banner.title)}</b> ${words([banner.text], mail)}</td></tr></table>`}
<h1 style="margin:4px 0 10px;font-size:24px;line-height:1.25;font-weight:bold">${plainText(title)}</h1>
<p style="margin:0;font-size:16px">${words(sentence, mail)}</p>
${parts.map((part) => partHtml(part, mail))}
${open === undefined ? '' : html`<p style="margin:24px 0 0"><a href="${open.href}" style="display:inline-block;padding:8px 16px;border-radius:3px;background-color:${ACCENT};color:#ffffff;font-size:14px;font-weight:bold;text-decoration:none">${plainText(open.name)}</a></p>`}
<p style="margin:26px 0 0;padding:12px 0 0;border-top:1px solid ${HAIRLINE};font-size:12px;color:${SECOND}">${footer.map((phrase, index) => html`${index === 0 ? '' : ' '}${words(phrase, mail)}`)}</p>
</td></tr></table>
</td></tr></table>
</body></html>
`;
  return String(text);
}

function partHtml({ title, subtitle, table, words: notes }: MailPart, mail: Mail): Markup {
  return html`<h2 style="margin:28px 0 2px;font-size:16px;line-height:1.4;font-weight:bold">${plainText(title)}</h2>
${subtitle === undefined ? '' : html`<p style="margin:0 0 4px;font-size:13px;color:${SECOND}">${plainText(subtitle)}</p>`}
${table === undefined ? '' : tableHtml(table, mail)}
${notes.map((note) => html`<p style="margin:${table === undefined ? '4px 0 0' : '8px 0 0'};font-size:${table === undefined ? '15px' : '13px'}${table === undefined ? '' : `;color:${SECOND}`}">${words(note, mail)}</p>`)}`;
}

function tableHtml({ columns, rows }: NonNullable<MailPart['table']>, mail: Mail): Markup {
  const isDrawn = (index: number) => rows.some((row) => row[index]?.kind === 'bullet');
  return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" style="${TABLE}"><tr>${columns.map((column, index) => html`<th scope="col" align="${sideOf(column)}" style="${cellStyle(column, index)};font-size:12px;font-weight:normal;color:${SECOND}${index === 0 ? ';width:32%' : isDrawn(index) ? ';width:13%' : ''}">${isDrawn(index) ? '' : plainText(column.title)}</th>`)}</tr>
${rows.map((row) => html`<tr>${row.map((cell, index) => cellHtml(cell, { column: columns[index], index, mail }))}</tr>\n`)}</table>`;
}

function cellHtml(
  cell: Cell,
  { column, index, mail }: { column: Column | undefined; index: number; mail: Mail },
): Markup {
  const content =
    cell.kind === 'bullet' ? bulletHtml(cell) : cellPieces(cell).map((piece) => pieceHtml(piece, mail));
  return html`<td align="${sideOf(column)}" style="${cellStyle(column, index)};font-size:13px">${content}</td>`;
}

/** Names break where they must; nothing else does. */
function cellStyle(column: Column | undefined, index: number): string {
  return `padding:6px 0 6px ${index === 0 ? 0 : column?.align === 'end' ? 7 : 10}px;border-bottom:1px solid ${HAIRLINE};text-align:${sideOf(column)}${index === 0 ? '' : ';white-space:nowrap'}`;
}

function sideOf(column: Column | undefined): string {
  return column?.align === 'end' ? 'right' : 'left';
}

function words(phrase: Phrase, mail: Mail): Markup[] {
  return piecesOf(phrase).map((piece) => pieceHtml(piece, mail));
}

function pieceHtml({ text, isStrong, isName, path }: Piece, { href }: Mail): Markup {
  const parts = isName
    ? html`${text}`
    : html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code style="font-size:90%">${part}</code>` : part))}`;
  const address = path === undefined ? null : href(path);
  const linked = address === null ? parts : html`<a href="${address}" style="color:${INK}">${parts}</a>`;
  return isStrong ? html`<b>${linked}</b>` : linked;
}

/** Of the width of a bar, the budget is always at two thirds; its mark is this wide, in per cent. */
const BUDGET_AT = 200 / 3;
const MARK = 2;

/** Spent, forecast and budget as the cells of a table. */
function bulletHtml(bullet: Bullet): Markup {
  const parts = barOf(bullet);
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="${TABLE};table-layout:fixed"><tr>${parts.map(({ width, color }) => html`<td width="${width}%" style="width:${width}%;height:10px;padding:0;font-size:0;line-height:10px${color === null ? '' : `;background-color:${color}`}"${color === null ? '' : html` bgcolor="${color}"`}>&nbsp;</td>`)}</tr></table>`;
}

function barOf({ spent, forecast, budget }: Bullet): { width: number; color: string | null }[] {
  const whole = budget === null ? Math.max(spent ?? 0, forecast ?? 0) : (budget * 100) / BUDGET_AT;
  const at = (value: number | null) =>
    whole <= 0 ? 0 : Math.max(0, Math.min(100, Math.round((100 * (value ?? 0)) / whole)));
  const mark = budget === null ? null : Math.round(BUDGET_AT);
  const ends = [at(spent), at(forecast), ...(mark === null ? [] : [mark, mark + MARK]), 100];
  const colorAt = (place: number) => {
    if (mark !== null && place >= mark && place < mark + MARK) return INK;
    if (place < at(spent)) return ACCENT;
    return place < at(forecast) ? FORECAST : null;
  };
  let from = 0;
  return [...new Set(ends)]
    .toSorted((a, b) => a - b)
    .flatMap((end) => {
      const part = { width: end - from, color: colorAt(from) };
      from = end;
      return part.width > 0 ? [part] : [];
    });
}
