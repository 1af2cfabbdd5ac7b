import { createHash } from 'node:crypto';
import { sumsOfStream } from '../../../schema/invariants.ts';
import type { DailyStream } from '../../../src/core/stream.ts';

/** What one user did on a day. A day without activity is an empty list. */
export interface Person {
  readonly id: number;
  readonly sessions: number;
  readonly tools: number;
  readonly files: number;
  readonly tokens: number;
  readonly model: 'a' | 'b';
}

/** One day of one stream, in a response or in the warehouse. */
export interface Content {
  /** Equal for equal content. */
  readonly text: string;
  readonly rows: number;
  /** Names of the rows with activity. */
  readonly keys: readonly string[];
  readonly activeUsers: number | null;
  /** What identities compare, in the order of `sumsOfStream`. */
  readonly figures: readonly (number | null)[];
  /** The text without the counts over trailing days. */
  readonly plain: string;
  /** Of tokens: the sums by model. */
  readonly sums: ReadonlyMap<string, number>;
  /** Its keys have values that contradict each other, so that what is stored under them stays: the name of the record. */
  readonly held?: string;
}

/** Context of a day: active users of the trailing week and month, and the form of an idle day. */
export interface Setting {
  readonly weekly: number;
  readonly monthly: number;
  /** Days without activity have a row of zeros; otherwise they have no row. */
  readonly zeroRows: boolean;
}

const NO_SUMS: ReadonlyMap<string, number> = new Map();

/** A day without an answer. */
export const NO_ROW: Content = {
  ...{ text: '', rows: 0, keys: [], activeUsers: null, plain: '' },
  ...{ figures: [], sums: NO_SUMS },
};
const NO_USER: Content = { ...NO_ROW, activeUsers: 0 };

const digests = new Map<string, string>();

/** The digest of a content. */
export function digestOf({ text }: Content): string {
  const digest = digests.get(text) ?? createHash('sha256').update(text).digest('hex');
  digests.set(text, digest);
  return digest;
}

/** True for a content with activity. */
export function isActive({ keys }: Content): boolean {
  return keys.length > 0;
}

/**
 * True for contents that say the same: equal ones, and no row beside a row of zeros. Counts over trailing days must not
 * get lost.
 */
export function isSame(stored: Content, truth: Content): boolean {
  if (stored.text === truth.text) return true;
  if (isActive(stored) || isActive(truth)) return false;
  return truth.rows === 0 || !/[1-9]/.test(truth.text);
}

/** What a stream says of a day. */
export function contentOf(stream: DailyStream, people: readonly Person[], setting: Setting): Content {
  const sum = (value: (person: Person) => number) =>
    people.reduce((total, person) => total + value(person), 0);
  const sums = {
    sessions: sum(({ sessions }) => sessions),
    tool_calls: sum(({ tools }) => tools),
    files_created: sum(({ files }) => files),
    billable_tokens: sum(({ tokens }) => tokens),
  };
  const known: ReadonlyMap<string, number> = new Map(Object.entries(sums));
  const figures = sumsOfStream(stream).map(({ column }) => known.get(column ?? '') ?? null);
  return { ...rowsOf(stream, people, setting), figures };
}

function rowsOf(stream: DailyStream, people: readonly Person[], setting: Setting): Content {
  const sum = (value: (person: Person) => number) =>
    people.reduce((total, person) => total + value(person), 0);
  switch (stream) {
    case 'users': {
      const keys = people.map(({ id }) => `u${id}`);
      const text = people.map((who) => Object.values(who).join(' ')).join(', ');
      return people.length === 0
        ? NO_USER
        : { ...NO_USER, text, plain: text, rows: keys.length, keys, activeUsers: keys.length };
    }
    case 'activity': {
      const plain = `${people.length} active, ${sum(({ sessions }) => sessions)} sessions`;
      const text = `${plain}, ${setting.weekly} weekly, ${setting.monthly} monthly`;
      if (people.length === 0) {
        if (!setting.zeroRows) return NO_ROW;
        return { ...NO_ROW, text, plain, rows: 1, activeUsers: 0 };
      }
      const keys = ['day', 'web', ...(people.length > 2 ? ['cli'] : [])];
      return { ...NO_ROW, text, plain, rows: keys.length, keys, activeUsers: people.length };
    }
    case 'tools':
      return figures(new Map([['day', sum(({ tools }) => tools)]]), setting);
    case 'productivity':
      return figures(new Map([['day', sum(({ files }) => files)]]), setting);
    case 'tokens': {
      const sums = new Map<string, number>();
      for (const { model, tokens } of people) sums.set(model, (sums.get(model) ?? 0) + tokens);
      const byUser = people.map(({ id, tokens }): [string, number] => [`u${id}`, tokens]);
      return { ...figures(new Map([...sums, ...byUser]), setting), sums };
    }
  }
}

function figures(values: ReadonlyMap<string, number>, { zeroRows }: Setting): Content {
  const keys = [...values].flatMap(([name, value]) => (value > 0 ? [name] : []));
  if (keys.length === 0) return zeroRows ? { ...NO_ROW, text: '0', plain: '0', rows: 1 } : NO_ROW;
  const text = [...values].map(([name, value]) => `${name} ${value}`).join(', ');
  return { ...NO_ROW, text, plain: text, rows: values.size, keys };
}
