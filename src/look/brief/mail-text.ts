import type { Phrase } from '../page.ts';
import { cellPieces, type Mail, type MailPart, piecesOf, plainText, wordsOf } from './mail.ts';

const LINE_CHARACTERS = 76;
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
