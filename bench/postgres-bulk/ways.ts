import type pg from 'pg';
import type { AnyTable } from '../../schema/define.ts';
import type { TableRows, Values } from '../../schema/row.ts';
import { binaryChunks, eagerCopy, streamedCopy, textChunks } from './copy.ts';
import { arrays, jsonText } from './parameters.ts';
import {
  fromArrayList,
  fromArrays,
  fromJson,
  fromJsonb,
  fromValues,
  type Source,
  upsert,
  upsertMany,
} from './statements.ts';
import { merged, type Unit } from './tables.ts';

/** One statement or COPY; returns the number of rows written to a fact table. */
export type Step = (client: pg.Client) => Promise<number>;

/** A way to write units. */
export interface Way {
  readonly name: string;
  /** True if all steps of a transaction are sent at once; otherwise each step waits for the previous response. */
  readonly pipelined: boolean;
  /** True if the way fails for rows that are already stored. */
  readonly loadOnly?: boolean;
  /** Statements before the first transaction of a session. */
  readonly session?: (tables: readonly AnyTable[]) => string[];
  /** The steps of one transaction, without BEGIN and COMMIT. */
  readonly steps: (units: readonly Unit[]) => Step[];
}

function each(step: (part: TableRows) => Step[]): Way['steps'] {
  return (units) =>
    units
      .flat()
      .filter(({ rows }) => rows.length > 0)
      .flatMap(step);
}

function run(name: string | undefined, text: string, values: unknown[]): Step {
  const query = name === undefined ? { text, values } : { name, text, values };
  return async (client) => (await client.query(query)).rowCount ?? 0;
}

function execute(text: string): Step {
  return async (client) => {
    await client.query(text);
    return 0;
  };
}

function batches(rows: readonly Values[], size: number): (readonly Values[])[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, at) =>
    rows.slice(at * size, (at + 1) * size),
  );
}

/** A format of rows as parameters. */
interface Shape {
  readonly name: string;
  readonly source: Source;
  readonly parameters: (part: TableRows) => unknown[];
}

const pgArrays: Shape = {
  name: 'unnest, encoded by pg',
  source: fromArrays,
  parameters: ({ table, rows }) => Object.keys(table.columns).map((_, at) => rows.map((row) => row[at])),
};
const unnest: Shape = { name: 'unnest', source: fromArrays, parameters: arrays };
const unnestList: Shape = { name: 'unnest in select list', source: fromArrayList, parameters: arrays };
const json: Shape = { name: 'json', source: fromJson, parameters: jsonText };
const jsonb: Shape = { name: 'jsonb', source: fromJsonb, parameters: jsonText };

function viaShape(shape: Shape, options: { pipelined?: boolean; size?: number } = {}): Way {
  const { pipelined = false, size } = options;
  const steps = each(({ table, rows }) => {
    const text = upsert(table, shape.source(table, 1));
    const parts = size === undefined ? [rows] : batches(rows, size);
    return parts.map((part) => run(`put ${table.name}`, text, shape.parameters({ table, rows: part })));
  });
  const name = `${shape.name}${size === undefined ? '' : `, ${size} rows`}${pipelined ? ', pipelined' : ''}`;
  return { name, pipelined, steps };
}

function allTables(shape: Shape): Way {
  return {
    name: `${shape.name}, all tables in one statement`,
    pipelined: true,
    steps: (units) =>
      units.map((unit) => async (client) => {
        const values = unit.map(shape.parameters);
        const tables = unit.map(({ table }) => table);
        const text = upsertMany(
          tables,
          shape.source,
          values.map((list) => list.length),
        );
        const { rows } = await client.query({ name: 'all tables', text, values: values.flat() });
        return Number(rows[0]?.written);
      }),
  };
}

function viaValues(size: number): Way {
  return {
    name: `VALUES, ${size} rows`,
    pipelined: false,
    steps: each(({ table, rows }) =>
      batches(rows, size).map((part) =>
        run(
          part.length === size ? `values ${size} ${table.name}` : undefined,
          upsert(table, fromValues(table, part.length)),
          part.flat(),
        ),
      ),
    ),
  };
}

type TempMode = 'DELETE ROWS' | 'TRUNCATE' | 'DROP';
type Send = (client: pg.Client, text: string, chunks: Iterable<Buffer>) => Promise<number>;

function staged(table: AnyTable): string {
  return `"staged_${table.name}"`;
}

function createStaged(table: AnyTable, onCommit: string): string {
  return `CREATE TEMP TABLE ${staged(table)} (LIKE "${table.name}") ON COMMIT ${onCommit}`;
}

function viaCopy(name: string, pipelined: boolean, mode: TempMode, send: Send, binary = false): Way {
  const steps = each((part) => {
    const { table, rows } = part;
    const copy = `COPY ${staged(table)} FROM STDIN${binary ? ' (FORMAT binary)' : ''}`;
    const put = upsert(table, `SELECT * FROM ${staged(table)}`);
    const sent: Step = async (client) => {
      await send(client, copy, binary ? binaryChunks(part) : textChunks(rows));
      return 0;
    };
    if (mode === 'DROP') return [execute(createStaged(table, 'DROP')), sent, run(undefined, put, [])];
    const stored = run(`staged ${table.name}`, put, []);
    return mode === 'TRUNCATE' ? [execute(`TRUNCATE ${staged(table)}`), sent, stored] : [sent, stored];
  });
  if (mode === 'DROP') return { name, pipelined, steps };
  const onCommit = mode === 'TRUNCATE' ? 'PRESERVE ROWS' : 'DELETE ROWS';
  return {
    name,
    pipelined,
    steps,
    session: (tables) => tables.map((table) => createStaged(table, onCommit)),
  };
}

const rawCopy: Way = {
  name: 'COPY into the table (floor)',
  pipelined: true,
  loadOnly: true,
  steps: each(({ table, rows }) => [
    (client) => eagerCopy(client, `COPY "${table.name}" FROM STDIN`, textChunks(rows)),
  ]),
};

/** The same way, with the rows of all units of a transaction combined by table. */
function together(way: Way): Way {
  return { ...way, name: `${way.name}, units together`, steps: (units) => way.steps([merged(units)]) };
}

const copyPipelined = viaCopy('COPY + temp, pipelined', true, 'DELETE ROWS', eagerCopy);
const pipelined = { pipelined: true };

/** Ways to write a large unit. */
export const LARGE_WAYS: readonly Way[] = [
  rawCopy,
  copyPipelined,
  viaCopy('COPY + temp, eager', false, 'DELETE ROWS', eagerCopy),
  viaCopy('COPY + temp, pg-copy-streams', false, 'DELETE ROWS', streamedCopy),
  viaCopy('COPY binary + temp, pipelined', true, 'DELETE ROWS', eagerCopy, true),
  viaCopy('COPY + temp, TRUNCATE', true, 'TRUNCATE', eagerCopy),
  viaCopy('COPY + temp, ON COMMIT DROP', true, 'DROP', eagerCopy),
  viaShape(unnest),
  viaShape(unnest, { pipelined: true, size: 500 }),
  viaShape(pgArrays),
  viaShape(unnestList, pipelined),
  viaShape(unnestList, { pipelined: true, size: 500 }),
  viaShape(json, pipelined),
  viaShape(json, { pipelined: true, size: 500 }),
  viaShape(jsonb, pipelined),
  viaValues(100),
  viaValues(500),
];

const PARAMETER_WAYS: readonly Way[] = [
  rawCopy,
  viaShape(unnest),
  viaShape(unnest, pipelined),
  viaShape(unnestList, pipelined),
  viaShape(json, pipelined),
  viaShape(jsonb, pipelined),
  allTables(unnest),
  allTables(unnestList),
  allTables(json),
  viaValues(100),
];

/** Ways to write a small unit. */
export const SMALL_WAYS: readonly Way[] = [
  ...PARAMETER_WAYS,
  copyPipelined,
  viaCopy('COPY + temp, eager', false, 'DELETE ROWS', eagerCopy),
  viaCopy('COPY + temp, pg-copy-streams', false, 'DELETE ROWS', streamedCopy),
  viaCopy('COPY + temp, TRUNCATE', true, 'TRUNCATE', eagerCopy),
  viaCopy('COPY + temp, ON COMMIT DROP', true, 'DROP', eagerCopy),
];

/** Ways to write several units in a transaction. */
export const GROUPED_WAYS: readonly Way[] = [
  ...PARAMETER_WAYS,
  together(viaShape(unnestList, pipelined)),
  together(viaShape(json, pipelined)),
  together(copyPipelined),
];

/** Ways that are compared by number of rows. */
export const BY_ROWS: readonly Way[] = [
  viaShape(unnest, pipelined),
  viaShape(unnestList, pipelined),
  viaShape(json, pipelined),
  copyPipelined,
];
