import type pg from 'pg';
import type { AnyTable } from '../../schema/define.ts';
import { countRows, type Unit } from './tables.ts';
import type { Way } from './ways.ts';

/** One line of a result: milliseconds by column, null if not measured. */
export interface Line {
  readonly name: string;
  readonly ms: readonly (number | null)[];
}

/** A table of results. */
export interface Section {
  readonly title: string;
  readonly columns: readonly string[];
  /** Rows per measurement, for the rows/s of the first column. */
  readonly rows: number | null;
  readonly lines: readonly Line[];
}

/** A way to write, and the session that it uses. */
interface Lane {
  readonly way: Way;
  readonly client: pg.Client;
}

/** Where and how often to measure. */
export interface Setting {
  readonly connect: (pipeline: boolean) => Promise<pg.Client>;
  readonly runs: number;
}

/** The median of some numbers. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Duration of `work` in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Units in groups of `size`, one group per transaction. */
export function grouped(units: readonly Unit[], size: number): Unit[][] {
  return Array.from({ length: Math.ceil(units.length / size) }, (_, at) =>
    units.slice(at * size, (at + 1) * size),
  );
}

/** Writes units in one transaction. Returns the number of written rows. */
export async function transaction({ way, client }: Lane, units: readonly Unit[]): Promise<number> {
  const steps = way.steps(units);
  if (!way.pipelined) {
    await client.query('BEGIN');
    let written = 0;
    for (const step of steps) written += await step(client);
    await client.query('COMMIT');
    return written;
  }
  const begun = client.query('BEGIN');
  const sent = steps.map((step) => step(client));
  const [, ended, ...written] = await Promise.all([begun, client.query('COMMIT'), ...sent]);
  if (ended.command !== 'COMMIT') throw new Error(`${way.name}: COMMIT was answered by ${ended.command}`);
  return written.reduce((sum, rows) => sum + rows, 0);
}

async function writeAll(lane: Lane, groups: readonly Unit[][], expected: number): Promise<number> {
  let written = 0;
  const ms = await timed(async () => {
    for (const group of groups) written += await transaction(lane, group);
  });
  if (written !== expected) throw new Error(`${lane.way.name}: wrote ${written} rows instead of ${expected}`);
  return ms;
}

/** The units before and after a change, and the number of units per transaction. */
export interface Work {
  readonly title: string;
  readonly tables: readonly AnyTable[];
  readonly units: readonly Unit[];
  readonly changed: { readonly units: readonly Unit[]; readonly changed: number };
  readonly perTransaction: number;
}

/** Measures loading, reloading without changes and reloading with changes for each way, in turn. */
export async function compare(setting: Setting, ways: readonly Way[], work: Work): Promise<Section> {
  const { tables, units, changed, perTransaction } = work;
  const total = countRows(units);
  const groups = grouped(units, perTransaction);
  const changedGroups = grouped(changed.units, perTransaction);
  const lanes = await Promise.all(
    ways.map(async (way) => {
      const client = await setting.connect(way.pipelined);
      for (const text of way.session?.(tables) ?? []) await client.query(text);
      return { way, client, ms: [[], [], []] as number[][] };
    }),
  );
  for (let turn = 0; turn < setting.runs; turn += 1) {
    for (const { way, client, ms } of lanes) {
      const lane = { way, client };
      await client.query(`TRUNCATE ${tables.map(({ name }) => `"${name}"`).join(', ')}`);
      await client.query('CHECKPOINT');
      ms[0]?.push(await writeAll(lane, groups, total));
      if (way.loadOnly) continue;
      ms[1]?.push(await writeAll(lane, groups, 0));
      ms[2]?.push(await writeAll(lane, changedGroups, changed.changed));
    }
  }
  await Promise.all(lanes.map(({ client }) => client.end()));
  const lines = lanes.map(({ way, ms }) => ({
    name: way.name,
    ms: ms.map((values) => (values.length === 0 ? null : median(values))),
  }));
  return {
    title: `${work.title}: ${total} rows`,
    columns: ['load', 'unchanged', '5 % changed'],
    rows: total,
    lines,
  };
}
