import { causeValue } from './evaluate-cause.ts';
import type { PageQuery } from './page-claims.ts';

/** The rows of a page's query, run again by the test, and the days that the page states for it. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly days: Pick<PageQuery, 'expected' | 'settled' | 'unsettled' | 'missing' | 'from' | 'until'>;
}

/**
 * The value of a formula, computed from its text and the rows of its queries; null if there is none. It shares no code with
 * the program, so that both cannot be wrong in the same way.
 * @throws {Error} for a text that is no formula, and for a query, row or column that does not exist.
 */
export function evaluateFormula(text: string, answers: ReadonlyMap<string, Answer>): number | null {
  const reader = { text, at: 0 };
  const value = term(reader, answers);
  if (reader.at !== text.length) throw new Error(`"${text}" goes on after its end at ${reader.at}`);
  return value;
}

interface Reader {
  readonly text: string;
  at: number;
}

type Answers = ReadonlyMap<string, Answer>;

function term(reader: Reader, answers: Answers): number | null {
  const name = take(reader, /[a-z]+\d*/y);
  if (peek(reader) === '[') return cell(reader, name, answers);
  take(reader, /\(/y);
  if (name === 'rows' || name === 'days') return counted(reader, name, answers);
  if (name === 'cause') {
    const cause = take(reader, /[a-z-]+/y);
    const part = take(reader, /,[a-z]+/y).slice(1);
    const ids = take(reader, /(,q\d+){7}/y)
      .slice(1)
      .split(',');
    take(reader, /\)/y);
    return causeValue(
      cause,
      part,
      ids.map((id) => answerOf(id, answers)),
    );
  }
  const operands: (number | null)[] = [];
  while (peek(reader) !== ')') {
    if (operands.length > 0) take(reader, /,/y);
    operands.push(term(reader, answers));
  }
  take(reader, /\)/y);
  return applied(name, operands, reader.text);
}

function cell(reader: Reader, id: string, answers: Answers): number | null {
  const row = Number(take(reader, /\[\d+\]/y).slice(1, -1));
  const column = take(reader, /\.[A-Za-z_]\w*/y).slice(1);
  const found = answerOf(id, answers).rows[row];
  if (found === undefined) throw new Error(`${id} has no row ${row}`);
  const value = found[column];
  if (value === undefined) throw new Error(`${id} has no column "${column}"`);
  if (value === null) return null;
  if (typeof value !== 'number') throw new Error(`${id}[${row}].${column} is ${typeof value}, not a number`);
  return value;
}

function counted(reader: Reader, name: 'rows' | 'days', answers: Answers): number {
  const answer = answerOf(take(reader, /q\d+/y), answers);
  const which = name === 'days' ? take(reader, /,(expected|settled|unsettled|missing)/y).slice(1) : 'rows';
  take(reader, /\)/y);
  const { expected, settled, unsettled, missing } = answer.days;
  const counts: Record<string, number> = {
    rows: answer.rows.length,
    expected,
    settled,
    unsettled: unsettled.length,
    missing: missing.length,
  };
  return counts[which] ?? Number.NaN;
}

function applied(op: string, operands: readonly (number | null)[], text: string): number | null {
  const values = operands.filter((value) => value !== null);
  const total = values.reduce((sum, value) => sum + value, 0);
  switch (op) {
    case 'sum':
      return values.length === 0 ? null : total;
    case 'mean':
      return values.length === 0 ? null : total / values.length;
    case 'count':
      return values.length;
    case 'above': {
      const [limit, ...others] = operands;
      return others.filter((value) => value !== null && value > (limit ?? Number.NaN) * (1 + 1e-9)).length;
    }
    case 'min':
      return values.length === 0 ? null : Math.min(...values);
    case 'max':
      return values.length === 0 ? null : Math.max(...values);
    case 'difference':
    case 'change':
    case 'share':
      return ofTwo(op, operands, text);
    default:
      throw new Error(`"${text}" uses "${op}", which is not described`);
  }
}

function ofTwo(
  op: 'difference' | 'change' | 'share',
  operands: readonly (number | null)[],
  text: string,
): number | null {
  const [a, b] = operands;
  if (operands.length !== 2 || a === undefined || b === undefined)
    throw new Error(`"${text}": ${op} has two operands`);
  if (a === null || b === null) return null;
  if (op === 'difference') return a - b;
  if (b === 0) return null;
  return op === 'share' ? a / b : (a - b) / b;
}

function answerOf(id: string, answers: Answers): Answer {
  const answer = answers.get(id);
  if (answer === undefined) throw new Error(`the page does not show the query ${id}`);
  return answer;
}

function peek({ text, at }: Reader): string {
  return text.charAt(at);
}

function take(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  if (found === undefined) throw new Error(`"${reader.text}" is no formula at ${reader.at}`);
  reader.at += found.length;
  return found;
}
