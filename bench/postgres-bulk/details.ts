import type { AnyTable } from '../../schema/define.ts';
import type { TableRows } from '../../schema/row.ts';
import { userDaily } from '../../schema/tables/daily.ts';
import { largeUnits, withChanges } from './content.ts';
import { binaryChunks, eagerCopy, swallow, textChunks } from './copy.ts';
import { compare, median, type Section, type Setting, timed } from './measure.ts';
import { arrays, jsonText } from './parameters.ts';
import { BY_ROWS } from './ways.ts';

const TRIPS = 1_000;
const SIZES = [1, 5, 10, 25, 50, 100, 200, 500, 1_000, 3_000];

/** Cost of a round trip: 1,000 empty queries, one at a time and pipelined. */
export async function roundTrips({ connect, runs }: Setting): Promise<Section> {
  const [single, piped] = [await connect(false), await connect(true)];
  const simple = 'SELECT 1';
  const prepared = { name: 'one', text: 'SELECT $1::int', values: [1] };
  const inTurn = async (query: typeof prepared | string) => {
    for (let trip = 0; trip < TRIPS; trip += 1) await single.query(query);
  };
  const works: Record<string, () => Promise<unknown>> = {
    'simple query': () => inTurn(simple),
    'prepared statement': () => inTurn(prepared),
    'prepared statement, pipelined': () =>
      Promise.all(Array.from({ length: TRIPS }, () => piped.query(prepared))),
  };
  const lines = await medians(works, runs);
  await Promise.all([single.end(), piped.end()]);
  return { title: `Round trips: ${TRIPS}`, columns: ['all'], rows: TRIPS, lines };
}

/** Cost of encoding in this process, without a server. */
export async function encoders({ runs }: Setting): Promise<Section> {
  const days = largeUnits(20, 3_000).flat();
  const all = (encode: (part: TableRows) => Iterable<Buffer>) => async () => {
    for (const part of days) await swallow(encode(part));
  };
  const lines = await medians(
    {
      'COPY text': all(({ rows }) => textChunks(rows)),
      'COPY binary': all(binaryChunks),
      'array literals': all((part) => arrays(part).map((text) => Buffer.from(text))),
      'JSON text': all((part) => jsonText(part).map((text) => Buffer.from(text))),
    },
    runs,
  );
  const rows = days.reduce((sum, part) => sum + part.rows.length, 0);
  return { title: `Encoding alone: ${rows} rows`, columns: ['all'], rows, lines };
}

async function medians(
  works: Record<string, () => Promise<unknown>>,
  runs: number,
): Promise<Section['lines']> {
  const lines = Object.entries(works).map(([name, work]) => ({ name, work, ms: [] as number[] }));
  for (let turn = 0; turn <= runs; turn += 1) {
    for (const { work, ms } of lines) ms.push(await timed(work));
  }
  // The first round warms up.
  return lines.map(({ name, ms }) => ({ name, ms: [median(ms.slice(1))] }));
}

/** Number of rows from which COPY is faster than arrays, with one table per transaction. */
export async function byRows(setting: Setting): Promise<Section[]> {
  const sections: Section[] = [];
  for (const size of SIZES) {
    const units = largeUnits(Math.max(5, Math.min(100, Math.ceil(3_000 / size))), size).map((unit) =>
      unit.slice(0, 1),
    );
    const title = `${size} rows per transaction`;
    const work = { title, tables: [userDaily], units, changed: withChanges(units), perTransaction: 1 };
    sections.push(await compare(setting, BY_ROWS, work));
  }
  return sections;
}

/** Checks the assumptions of the adapter, and throws if one does not hold. */
export async function assumptions({ connect }: Setting, table: AnyTable): Promise<string[]> {
  const client = await connect(true);
  const bad = Buffer.from('not a row\n');
  const sent = await Promise.allSettled([
    client.query('BEGIN'),
    eagerCopy(client, `COPY "${table.name}" FROM STDIN`, [bad, bad]),
    eagerCopy(client, `COPY "${table.name}" FROM STDIN`, [bad]),
    client.query('SELECT 1'),
    client.query('COMMIT'),
    client.query('SELECT 1 AS one'),
  ]);
  const results = sent.map((result) => {
    if (result.status === 'rejected') return String(result.reason);
    return typeof result.value === 'number' ? `copied ${result.value}` : result.value.command;
  });
  await client.end();
  return results;
}
