import { createHash } from 'node:crypto';
import { cut } from '../html/text.ts';
import { formatNumber } from '../numbers.ts';
import type { Banner, Cell, Phrase, Table } from '../page.ts';

/** What a mail says, without markup. Its text and its HTML are made from this, so they have the same words and numbers. */
export interface Mail {
  readonly subject: string;
  /** The organization and the period. */
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
