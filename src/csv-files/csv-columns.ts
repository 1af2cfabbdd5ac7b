import { isDay, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { seenName } from '../core/json.ts';

/** The longest text of a cell. A key of PostgreSQL has room for it in any script. */
const TEXT_CHARS_MAX = 500;

/**
 * Turns the text of a cell into a value. The text is trimmed and not empty.
 * @throws {UsageError} whose message goes on after the name of the column and the text: `is not …`.
 */
export type CellParser<Value> = (text: string) => Value;

type Presence = 'optional' | 'column' | 'value';

/** A column that a CSV file may have. */
export interface CsvColumn<Value> {
  /** Whether the file must have the column: no; yes; yes, with a value in every row. */
  readonly presence: Presence;
  readonly parse: CellParser<Value>;
  /** The value of an empty cell and of a column that the file does not have. */
  readonly absent: Value;
}

/** A column that the file must have, with a value in every row. */
export function required<Value>(parse: CellParser<Value>): {
  readonly presence: 'value';
  readonly parse: CellParser<Value>;
  readonly absent: null;
} {
  return { presence: 'value', parse, absent: null };
}

/** A column that the file must have; an empty cell is null. */
export function fillable<Value>(parse: CellParser<Value>): CsvColumn<Value | null> & { presence: 'column' } {
  return { presence: 'column', parse, absent: null };
}

/** A column that the file may have; an empty cell is null. */
export function optional<Value>(
  parse: CellParser<Value>,
): CsvColumn<Value | null> & { presence: 'optional' } {
  return { presence: 'optional', parse, absent: null };
}

/** Text on one line, 500 characters at most. */
export const textCell: CellParser<string> = (text) => {
  if (/\p{Cc}/u.test(text)) {
    throw new UsageError('contains a line break or a control character', { hint: 'write it on one line' });
  }
  if (text.length <= TEXT_CHARS_MAX) return text;
  throw new UsageError(`has ${text.length} characters`, {
    hint: `write ${TEXT_CHARS_MAX} characters at most`,
  });
};

/** The name of a team. What looks the same is one name: accented letters of one character and of two, with unseen characters or without. */
export const teamCell: CellParser<string> = (text) => {
  const name = textCell(seenName(text));
  if (/[^\p{Default_Ignorable_Code_Point}]/u.test(name)) return name;
  throw new UsageError('has no character that can be seen', { hint: 'write the name of a team' });
};

/** A day, `YYYY-MM-DD`. */
export const dayCell: CellParser<UtcDay> = (text) => {
  if (isDay(text)) return text;
  throw new UsageError('is not a calendar day written YYYY-MM-DD', {
    hint: 'write days as YYYY-MM-DD, for example 2026-05-01; in a spreadsheet, give the column the format Text',
  });
};

/** A month, `YYYY-MM`. */
export const monthCell: CellParser<string> = (text) => {
  if (/^\d{4}-\d{2}$/.test(text) && isDay(`${text}-01`)) return text;
  throw new UsageError('is not a month written YYYY-MM', {
    hint: 'write months as YYYY-MM, for example 2026-05; in a spreadsheet, give the column the format Text',
  });
};

/** The most digits that a number keeps without loss. */
const DIGITS_MAX = 15;

/** A number of 0 or more, with a decimal point. A list writes the smallest with an exponent, as in 1e-7. */
export const amountCell: CellParser<number> = (text) => {
  const hint = 'write a number of 0 or more, for example 1250.50: a decimal point, no other separator';
  if (!/^\d+(\.\d+)?(e-\d+)?$/.test(text)) throw new UsageError('is not a number of 0 or more', { hint });
  if (text.replace(/\.|e.*/g, '').replace(/^0+/, '').length <= DIGITS_MAX) return Number(text);
  throw new UsageError(`has more than ${DIGITS_MAX} digits`, { hint });
};

/** The largest price or budget. It leaves room for its product with any number of credits. */
const MONEY_MAX = 1_000_000_000_000;

/** A sum of money: 0 or more, with a decimal point. */
export const moneyCell: CellParser<number> = (text) => {
  const amount = amountCell(text);
  if (amount <= MONEY_MAX) return amount;
  throw new UsageError(`is more than ${MONEY_MAX}`, { hint: 'check the number' });
};

/** An ISO 4217 code of a currency, in capital letters. */
export const currencyCell: CellParser<string> = (text) => {
  const known = Intl.supportedValuesOf('currency');
  if (known.includes(text)) return text;
  const upper = text.toUpperCase();
  if (known.includes(upper)) {
    throw new UsageError('is not in capital letters', { hint: `write ${upper}` });
  }
  throw new UsageError('is not a currency of ISO 4217', { hint: 'write its code, for example EUR or USD' });
};

/** How many mistakes are described; the others are only counted. */
const DESCRIBED_MAX = 10;

/** Something wrong in a line of a file. */
interface Mistake {
  readonly line: number;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
}

/** Collects the mistakes in a file, so that they are reported together. */
export class Mistakes {
  readonly #file: string;
  readonly #all: Mistake[] = [];

  /** @param file the name of the file in messages */
  constructor(file: string) {
    this.#file = file;
  }

  add(mistake: Mistake): void {
    this.#all.push(mistake);
  }

  /**
   * Does nothing without mistakes.
   * @throws {UsageError} that describes the first mistakes as `file:line: what is wrong`, in the order of lines.
   */
  refuse(): void {
    const sorted = this.#all.toSorted((a, b) => a.line - b.line);
    const [first, ...others] = sorted.slice(0, DESCRIBED_MAX);
    if (first === undefined) return;
    const describe = ({ line, message }: Mistake) => `${this.#file}:${line}: ${message}`;
    const more = sorted.length - DESCRIBED_MAX;
    throw new UsageError(describe(first), {
      hint: first.hint,
      details: [
        ...others.map(describe),
        ...(more > 0 ? [`and ${more} more ${more === 1 ? 'mistake' : 'mistakes'}`] : []),
      ],
    });
  }
}
