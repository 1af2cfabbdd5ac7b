import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { cut, type Markup } from '../html/text.ts';
import { formatNumber } from '../numbers.ts';
import type { Banner, Bullet, Cell, Column, Phrase, Table } from '../page.ts';

/** What a mail says, without markup. Its text and its HTML are made from this, so they have the same words and numbers. */
export interface Mail {
  readonly subject: string;
  /** The period. */
  readonly about: string;
  readonly title: string;
  /** Why the mail must not be read as the present: what is missing. */
  readonly banner?: Banner | undefined;
  readonly sentence: Phrase;
  readonly parts: readonly MailPart[];
  /** The page to open: its name and its address in the dashboard. */
  readonly open?: { readonly name: string; readonly href: string } | undefined;
  /** What the numbers rest on. */
  readonly footer: readonly Phrase[];
  /** The address of a path of the dashboard; null if it is not known. */
  href(path: string): string | null;
}

/** A section of a mail: a table, words, or both. */
export interface MailPart {
  readonly title: string;
  /** What the table shows: the unit, and the period. */
  readonly subtitle?: string;
  readonly table?: Pick<Table, 'columns' | 'rows'>;
  readonly words: readonly Phrase[];
}

/** Words of one kind. */
export interface Piece {
  readonly text: string;
  readonly isStrong: boolean;
  /** True for a name from the warehouse, in which nothing is a command. */
  readonly isName: boolean;
  /** Where it leads in the dashboard. */
  readonly path?: string;
}

/** Characters that end a line, steer a terminal or turn the direction of text; joiners of scripts and emoji stay. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;
/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const NAME_CHARACTERS_MAX = 48;
const SUBJECT_CHARACTERS_MAX = 160;

/** Text on one line, without a character that does something. */
export function plainText(text: string): string {
  return text.replaceAll(UNSAFE, ' ');
}

/** A subject on one line. */
export function subjectOf({ subject }: Mail): string {
  return cut(plainText(subject).trim(), SUBJECT_CHARACTERS_MAX);
}

/** A name from the warehouse: on one line, of its own direction, and never endless. */
export function plainName(text: string): string {
  const name = cut(plainText(text).trim(), NAME_CHARACTERS_MAX);
  if (name === '') return 'empty';
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** A phrase as words, in their order. */
export function piecesOf(phrase: Phrase, isStrong = false): Piece[] {
  return phrase.flatMap((part): Piece[] => {
    if (typeof part === 'string') return [{ text: plainText(part), isStrong, isName: false }];
    if (part.kind === 'strong') return piecesOf(part.parts, true);
    if (part.kind === 'small') return piecesOf([' (', ...part.parts, ')']);
    if (part.kind === 'link')
      return [{ text: plainName(part.text), isStrong, isName: true, path: part.path }];
    const text = part.value === null ? '–' : formatNumber(part.value, part.format);
    return [{ text, isStrong, isName: false }];
  });
}

/** A cell as words; none for a drawing. */
export function cellPieces(cell: Cell): Piece[] {
  switch (cell.kind) {
    case 'number':
    case 'link':
      return piecesOf([cell]);
    case 'phrase':
      return piecesOf(cell.parts);
    case 'text':
      return [{ text: plainName(cell.text), isStrong: false, isName: true }];
    default:
      return [];
  }
}

export function wordsOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}

/** The same mail without the names of groups that name a person; nothing else in a mail is a name. */
export function withoutPeople(mail: Mail, namesPerson: (name: string) => boolean): Mail {
  const shown = (cell: Cell): Cell =>
    (cell.kind === 'text' || cell.kind === 'link') && namesPerson(cell.text)
      ? { kind: 'text', text: 'named after a person' }
      : cell;
  const parts = mail.parts.map(({ table, ...part }) => ({
    ...part,
    ...(table !== undefined && { table: { ...table, rows: table.rows.map((row) => row.map(shown)) } }),
  }));
  return { ...mail, parts };
}

const LINE_CHARACTERS = 76;
/** As many bytes of an encoded word as leave its line below the limit of 76 characters. */
const WORD_BYTES_MAX = 39;

/**
 * The whole mail for a program such as sendmail or msmtp, which adds the date: everything but sender and recipients. Lines end as
 * such programs expect them, with a line feed.
 */
export function messageOf(subject: string, text: string, html: string): string {
  const boundary = `daywalk-${createHash('sha256').update(`${text}\n${html}`).digest('hex').slice(0, 32)}`;
  const part = (type: string, content: string) =>
    [
      `--${boundary}`,
      `Content-Type: ${type}; charset=utf-8`,
      'Content-Transfer-Encoding: base64',
      '',
      encoded(content),
    ].join('\n');
  return [
    `Subject: ${encodedHeader(subject)}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative;\n boundary="${boundary}"`,
    '',
    part('text/plain', text),
    part('text/html', html),
    `--${boundary}--`,
    '',
  ].join('\n');
}

function encoded(content: string): string {
  const text = Buffer.from(content).toString('base64');
  return (text.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? []).join('\n');
}

/** A header in encoded words (RFC 2047), none of which divides a character. */
function encodedHeader(text: string): string {
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES_MAX) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word].map((own) => `=?UTF-8?B?${Buffer.from(own).toString('base64')}?=`).join('\n ');
}

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

const BETWEEN = '  ';

/** The text part of a mail: lines of at most 76 characters, except for long words and wide tables. */
export function textOf({ about, title, banner, sentence, parts, open, footer }: Mail): string {
  const blocks = [
    plainText(about),
    ...(banner === undefined ? [] : [`! ${plainText(banner.title)}\n${wrapped(plainText(banner.text))}`]),
    plainText(title).toUpperCase(),
    paragraph(sentence),
    ...parts.flatMap(partBlocks),
    ...(open === undefined ? [] : [`${plainText(open.name)}: ${open.href}`]),
    footer.map(paragraph).join('\n'),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function partBlocks({ title, subtitle, table, words }: MailPart): string[] {
  const heading = [
    plainText(title).toUpperCase(),
    ...(subtitle === undefined ? [] : [wrapped(plainText(subtitle))]),
  ];
  const lines = table === undefined ? [] : tableLines(table);
  const [first, ...rest] = [
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    words.map(paragraph).join('\n'),
  ];
  return [[...heading, first].join('\n'), ...rest];
}

/** Drawings are left out: their numbers stand beside them. */
function tableLines({ columns, rows }: NonNullable<MailPart['table']>): string[] {
  const isDrawn = columns.map((_, index) => rows.some((row) => row[index]?.kind === 'bullet'));
  const shown = columns.filter((_, index) => isDrawn[index] === false);
  const lines = [
    shown.map(({ title }) => plainText(title)),
    ...rows.map((row) =>
      row.filter((_, index) => isDrawn[index] === false).map((cell) => wordsOf(cellPieces(cell))),
    ),
  ];
  const widths = shown.map((_, index) => Math.max(...lines.map((line) => lengthOf(line[index] ?? ''))));
  return lines.map((line) =>
    line
      .map((text, index) => {
        const space = ' '.repeat((widths[index] ?? 0) - lengthOf(text));
        return shown[index]?.align === 'end' ? space + text : text + space;
      })
      .join(BETWEEN)
      .trimEnd(),
  );
}

/** Marks of direction take no room. */
function lengthOf(text: string): number {
  return [...text.replaceAll(/[\u2068\u2069]/g, '')].length;
}

function paragraph(phrase: Phrase): string {
  return wrapped(wordsOf(piecesOf(phrase)).trim());
}

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(/ +/)) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(word) <= LINE_CHARACTERS) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines.join('\n');
}
