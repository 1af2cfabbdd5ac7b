import { writeCsv } from '../../csv-files/index.ts';
import type { Period } from '../../metrics/index.ts';
import { formatNumber } from '../numbers.ts';
import { type Cell, type Figure, MARK_NAMES, type Phrase } from '../page.ts';
import type { Answer } from './answer.ts';

/** The table of a figure as a file: numbers in full, without the drawings that repeat them. */
export function csvAnswer({ id, table: { columns, rows } }: Figure, { from, until }: Period): Answer {
  const names = columns.map(({ title }, index) => {
    if (rows.every((row) => cellValue(row[index]) === undefined)) return '';
    const same = columns.slice(0, index).filter((column) => column.title === title).length;
    return title === '' ? `Column ${index + 1}` : same > 0 ? `${title} ${same + 1}` : title;
  });
  const file = writeCsv(
    names.filter((name) => name !== ''),
    rows.map((row) =>
      Object.fromEntries(
        names.flatMap((name, index) => (name === '' ? [] : [[name, cellValue(row[index]) ?? null]])),
      ),
    ),
  );
  return {
    status: 200,
    body: file,
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${id}-${from}-${until}.csv"`,
    },
  };
}

/** A cell as a value; null if it has none, undefined if it is a drawing. */
function cellValue(cell: Cell | undefined): string | number | null | undefined {
  switch (cell?.kind) {
    case 'number':
      return cell.value;
    case 'link':
    case 'text':
      return cell.text === '–' ? null : cell.text;
    case 'phrase': {
      const [only, ...others] = flat(cell.parts);
      const isNumber = only === null || typeof only === 'number';
      return isNumber && others.length === 0 ? only : wordsOf(cell.parts);
    }
    case 'state':
      return MARK_NAMES[cell.state];
    default:
      return undefined;
  }
}

/** The texts and numbers of a phrase. */
function flat(phrase: Phrase): (string | number | null)[] {
  return phrase.flatMap((part) => {
    if (typeof part === 'string') return [part];
    if (part.kind === 'number') return [part.value];
    return part.kind === 'link' ? [part.text] : flat(part.parts);
  });
}

/** A phrase without its explanation in small letters. */
function wordsOf(phrase: Phrase): string {
  return phrase
    .map((part) => {
      if (typeof part === 'string') return part;
      if (part.kind === 'number') return part.value === null ? '–' : formatNumber(part.value, part.format);
      if (part.kind === 'link') return part.text;
      return part.kind === 'small' ? '' : wordsOf(part.parts);
    })
    .join('');
}
