import type { AnyTable, ColumnKind } from '../../schema/define.ts';
import { inKeyOrder, type Value, type Values } from '../../schema/row.ts';
import { parseDay, shiftDay } from '../../src/core/day.ts';
import { LARGE, SMALL, type Unit } from './tables.ts';

const ORG = 'org_01hv3k8q2nexample';
const FIRST_DAY = parseDay('2026-02-01');
const LANGUAGES = ['typescript', 'python', 'go', 'rust', 'sql', 'java', 'shell', 'c++'];
const CHANGED_EVERY = 20;

/** A repeatable source of numbers in [0, 1). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

function randomValue(name: string, kind: ColumnKind, next: () => number): Value {
  if (kind === 'flag' || kind === 'yesNo') return next() < 0.01 ? 1 : 0;
  if (kind === 'json') return name === 'extra' && next() < 0.98 ? null : '{"GitHub":12,"github":3}';
  if (kind === 'label') {
    if (name === 'user_email') return `person.${Math.floor(next() * 1e6)}@example.com`;
    return ['claude-opus-4-5', 'thinking', 'auto-high', null][Math.floor(next() * 4)] ?? null;
  }
  if (name.includes('ratio') || name.endsWith('_avg')) return Math.round(next() * 1e4) / 1e3;
  if (name === 'billable_tokens') return Math.floor(next() * 1e8);
  return next() < 0.3 ? 0 : Math.floor(next() * 500);
}

function rowOf(table: AnyTable, known: Readonly<Record<string, Value>>, next: () => number): Values {
  return Object.entries(table.columns).map(
    ([name, { kind }]) => known[name] ?? randomValue(name, kind, next),
  );
}

/** Days of users, each with about two languages. */
export function largeUnits(days: number, users: number): Unit[] {
  const next = numbers(1);
  return Array.from({ length: days }, (_, day) => {
    const scope = { org_id: ORG, date: shiftDay(FIRST_DAY, day) };
    const [table, languages] = LARGE;
    if (table === undefined || languages === undefined) return [];
    const ids = Array.from({ length: users }, (_, user) => ({
      ...scope,
      user_id: `user_${((user * 2_654_435_761) % 4_294_967_296).toString(36).padStart(7, '0')}${user}`,
    }));
    const used = ids.flatMap((id) => {
      const first = Math.floor(next() * LANGUAGES.length);
      const spoken = Array.from({ length: Math.floor(next() * 5) }, (_, at) => LANGUAGES[(first + at) % 8]);
      return spoken.map((language) => ({ ...id, language: language ?? '' }));
    });
    return [
      {
        table,
        rows: inKeyOrder(
          table,
          ids.map((id) => rowOf(table, id, next)),
        ),
      },
      {
        table: languages,
        rows: inKeyOrder(
          languages,
          used.map((key) => rowOf(languages, key, next)),
        ),
      },
    ];
  });
}

/** Days of an organization: one row, and 1 to 25 rows in each breakdown. */
export function smallUnits(count: number): Unit[] {
  const next = numbers(2);
  return Array.from({ length: count }, (_, day) => {
    const scope = { org_id: ORG, date: shiftDay(FIRST_DAY, day) };
    return SMALL.map((table) => {
      const by = table.key[2];
      const length = by === undefined ? 1 : 1 + Math.floor(next() * 25);
      const keys = Array.from({ length }, (_, at) =>
        by === undefined ? scope : { ...scope, [by]: `name-${at}` },
      );
      return {
        table,
        rows: inKeyOrder(
          table,
          keys.map((key) => rowOf(table, key, next)),
        ),
      };
    });
  });
}

/** The same units with every 20th row of each table changed, and the number of changed rows. */
export function withChanges(units: readonly Unit[]): { units: Unit[]; changed: number } {
  let changed = 0;
  const alter = (row: Values, from: number): Values => {
    changed += 1;
    return row.map((value, at) => (at === from ? changedValue(value) : value));
  };
  const result = units.map((unit) =>
    unit.map(({ table, rows }) => {
      const from = Math.min(table.key.length + 1, Object.keys(table.columns).length - 1);
      return {
        table,
        rows: rows.map((row, index) => (index % CHANGED_EVERY === 0 ? alter(row, from) : row)),
      };
    }),
  );
  return { units: result, changed };
}

function changedValue(value: Value | undefined): Value {
  if (typeof value === 'number') return value === 0 ? 1 : 0;
  return value === '{"changed":true}' ? null : '{"changed":true}';
}
