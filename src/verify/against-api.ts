import { createHash } from 'node:crypto';
import type { AnyTable } from '../../schema/define.ts';
import { contentSha256, decodeRows } from '../../schema/digest.ts';
import { decoderOf, readerOf, type TableRows, type Values } from '../../schema/row.ts';
import { CREDIT_COLUMNS, tables } from '../../schema/tables.ts';
import { analyticsPage, analyticsRequest } from '../api/index.ts';
import { type RowCheck, rowCheck } from '../checks/index.ts';
import {
  ActivityByClientRow,
  GROUP_BY,
  MODEL_KEYS,
  TokensByModelRow,
  ToolsByToolRow,
} from '../contract/index.ts';
import type { UtcDay } from '../core/day.ts';
import { DaywalkError, messageOf, RunError } from '../core/errors.ts';
import { DAILY_STREAMS, type DailyStream } from '../core/stream.ts';
import { BadRequestError } from '../http/index.ts';
import { readUnits } from '../ledger/index.ts';
import { expectName, type NameInFile } from '../organizations/index.ts';
import { identify, type NormalizedDay, type PullCall, prepareBatch, type Source } from '../pipeline/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type DayUnit, isDayUnit, type LedgerUnit } from '../units/index.ts';
import type { FindingList } from './finding.ts';

export interface PulledAgain {
  /** The same seed chooses the same units of the same ledger. */
  readonly seed: number;
  readonly units: number;
  readonly requests: number;
}

/** Which units to pull again, from where, and where the findings go. */
export interface Sampling {
  readonly warehouse: Warehouse;
  readonly findings: FindingList;
  readonly source: Source;
  /** The organization to sample; null for the one that the API key belongs to. */
  readonly orgId: string | null;
  /** The name of the organization, which must stand for the one that the API key belongs to. @default none */
  readonly named?: NameInFile | undefined;
  /** The newest day that the service has data of. */
  readonly lastDay: UtcDay;
  readonly units: number;
  readonly seed: number;
  readonly signal: AbortSignal;
}

type SampledUnit = DayUnit & Pick<LedgerUnit, 'orgId' | 'contentSha256'>;

/**
 * Pulls units again, chosen by the seed, and compares them with the stored ones: first the digest and, where it differs,
 * the sum of each column. Also compares grouped responses with nested breakdowns, see {@link compareGroups}. A unit that
 * cannot be pulled is a finding.
 * @throws {CredentialError} and every other error that ends a run.
 */
export async function pullAgain(sampling: Sampling): Promise<PulledAgain> {
  const { source, signal, seed, lastDay } = sampling;
  const call = { signal, meter: { requests: 0, retries: 0 } };
  // A key belongs to one organization, and a warehouse may hold several.
  const { orgId, requests } =
    sampling.orgId === null
      ? await identify(source, { lastDay, streams: DAILY_STREAMS }, signal)
      : { orgId: sampling.orgId, requests: 0 };
  if (sampling.named !== undefined) await requireExported(sampling, sampling.named, orgId);
  source.gate.passFor(orgId);
  const sample = await sampleOf(sampling, orgId);
  for (const unit of sample) {
    try {
      await compareUnit(sampling, unit, call);
    } catch (error) {
      if (!(error instanceof DaywalkError) || error.effect === 'run') throw error;
      const what = `pulled again: ${messageOf(error)}`;
      const outcome = { expected: 'a response', found: null };
      sampling.findings.add({ severity: 'unanswered', ...placeOf(unit), what, ...outcome });
    }
  }
  return { seed, units: sample.length, requests: requests + call.meter.requests };
}

/** @throws {RunError} if the name stands for another organization, or for none yet. */
async function requireExported({ warehouse }: Sampling, named: NameInFile, orgId: string): Promise<void> {
  if (await expectName(warehouse, named, orgId)) return;
  throw new RunError(`compare "${named.name}" with its service: it was never exported`, {
    hint: 'export it first',
  });
}

/** Chooses units with content: the seed ranks their names. */
async function sampleOf({ warehouse, units, seed }: Sampling, orgId: string): Promise<SampledUnit[]> {
  const rankOf = ({ stream, day }: SampledUnit) =>
    createHash('sha256').update(`${seed} ${stream} ${day}`).digest('hex');
  return (await readUnits(warehouse, orgId))
    .filter(isDayUnit)
    .filter(({ contentSha256 }) => contentSha256 !== null)
    .map((unit) => ({ unit, rank: rankOf(unit) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, units)
    .map(({ unit }) => unit);
}

async function compareUnit(
  { warehouse, findings, source }: Sampling,
  unit: SampledUnit,
  call: PullCall,
): Promise<void> {
  const { orgId, stream, day } = unit;
  const { days } = await prepareBatch({ source, orgId }, { stream, days: [day] }, call);
  for (const { day: pulled } of days) {
    const found = contentSha256(pulled.tables);
    const at = { severity: 'difference', ...placeOf(unit) } as const;
    if (found !== unit.contentSha256) {
      findings.add({ ...at, what: 'SHA-256 of the response', expected: unit.contentSha256, found });
      for (const sum of await sumsThatDiffer(warehouse, unit, pulled)) findings.add({ ...at, ...sum });
    }
    await compareGroups(source, { ...placeOf(unit), tables: pulled.tables.map(decodeRows) }, call, findings);
  }
}

/** Finds the row counts and the sums of columns that differ between the warehouse and the service. */
async function sumsThatDiffer(warehouse: Warehouse, { orgId, day }: SampledUnit, { tables }: NormalizedDay) {
  const differing: { what: string; expected: number | null; found: number | null }[] = [];
  for (const { table, rows } of tables.map(decodeRows)) {
    const stored: Values[] = [];
    for await (const chunk of warehouse.scan(table, { orgId, firstDay: day, lastDay: day }))
      stored.push(...chunk);
    const expected = sumsOf(table, stored);
    for (const [what, found] of sumsOf(table, rows)) {
      const before = expected.get(what) ?? null;
      if (before !== found) differing.push({ what, expected: before, found });
    }
  }
  return differing;
}

function sumsOf(table: AnyTable, rows: readonly Values[]): Map<string, number | null> {
  const sums = new Map<string, number | null>([[`${table.name}.rows`, rows.length]]);
  for (const [name, { kind }] of Object.entries(table.columns)) {
    if (kind !== 'metric') continue;
    const values = rows.map(readerOf(table, name)).filter((value) => typeof value === 'number');
    const sum = values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
    sums.set(`${table.name}.${name}`, sum);
  }
  return sums;
}

function placeOf({ orgId, stream, day }: SampledUnit) {
  return { orgId, stream, day };
}

/** A day of a stream from its plain response: nested breakdowns, as tables. */
interface PlainDay {
  readonly orgId: string;
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly tables: readonly TableRows[];
}

/** How the grouped rows of an endpoint compare with the table of its nested breakdown. */
interface Grouping {
  readonly groupBy: string;
  readonly check: RowCheck<object>;
  readonly table: string;
  /** The column that the rows are grouped by, and the fields of a grouped row that may hold its value. */
  readonly by: { readonly column: string; readonly keys: readonly string[] };
  /** Metrics of a grouped row, each with the table's column for the same figure. */
  readonly metrics: readonly (readonly [name: string, column: string])[];
}

const GROUPINGS: { readonly [Name in DailyStream]?: Grouping } = {
  tokens: {
    groupBy: GROUP_BY.tokens,
    check: rowCheck(TokensByModelRow) as RowCheck<object>,
    table: tables.tokensDailyByModel.name,
    by: { column: 'model_id', keys: ['group_key', ...MODEL_KEYS] },
    metrics: CREDIT_COLUMNS.map((name) => [name, name] as const),
  },
  tools: {
    groupBy: GROUP_BY.tools,
    check: rowCheck(ToolsByToolRow),
    table: tables.toolsDailyByTool.name,
    by: { column: 'tool', keys: ['group_key'] },
    metrics: [['tool_calls', 'invocations']],
  },
  activity: {
    groupBy: GROUP_BY.activity,
    check: rowCheck(ActivityByClientRow),
    table: tables.activityDailyByClient.name,
    by: { column: 'client', keys: ['group_key'] },
    metrics: [['daily_active_users', 'daily_active_users']],
  },
};

/**
 * Requests a day grouped (specification, section 4.2) and compares every figure with the nested one of the plain response. A
 * figure that one of them lacks is not compared. Does nothing if the service rejects the grouping.
 */
async function compareGroups(
  { transport, hosts }: Source,
  { orgId, stream, day, tables: plain }: PlainDay,
  call: PullCall,
  findings: FindingList,
): Promise<void> {
  const grouping = GROUPINGS[stream];
  if (grouping === undefined) return;
  const { groupBy, check, by } = grouping;
  const name = `pull ${stream} ${day} by ${groupBy}`;
  const query = { startDate: day, endDate: day, groupBy };
  const answer = await transport.get(analyticsRequest(hosts, stream, query), call).catch((error: unknown) => {
    if (error instanceof BadRequestError) return undefined;
    throw error;
  });
  if (answer === undefined) return;
  const page = analyticsPage(answer, name);
  const { rows } = check(page.data, { path: 'data', text: page.text });
  const grouped = new Breakdown();
  for (const row of rows) {
    const group = by.keys.map((key) => Reflect.get(row, key)).find((value) => typeof value === 'string');
    for (const [metric, column] of grouping.metrics) grouped.add(group, column, Reflect.get(row, metric));
  }
  const nested = nestedBreakdown(grouping, plain);
  for (const [place, expected] of nested.figures) {
    const found = grouped.figures.get(place);
    if (found === undefined || found === expected) continue;
    const [group, column] = JSON.parse(place) as [string, string];
    const what = `${column} of ${JSON.stringify(group)} by ${groupBy} = ${grouping.table}.${column}`;
    findings.add({ severity: 'oddity', orgId, stream, day, what, expected, found });
  }
  const what = `number of groups by ${groupBy} = rows of ${grouping.table}`;
  const [expected, found] = [nested.groups.size, grouped.groups.size];
  if (found !== expected) findings.add({ severity: 'oddity', orgId, stream, day, what, expected, found });
}

function nestedBreakdown({ table: name, by, metrics }: Grouping, plain: readonly TableRows[]): Breakdown {
  const breakdown = new Breakdown();
  for (const { table, rows } of plain) {
    if (table.name !== name) continue;
    for (const row of rows.map(decoderOf(table))) {
      for (const [, column] of metrics) breakdown.add(row[by.column], column, row[column]);
    }
  }
  return breakdown;
}

/** Figures by group and column; missing ones are left out. */
class Breakdown {
  readonly groups = new Set<unknown>();
  readonly figures = new Map<string, number>();

  add(group: unknown, column: string, value: unknown): void {
    this.groups.add(group);
    if (typeof value !== 'number') return;
    const place = JSON.stringify([group, column]);
    this.figures.set(place, (this.figures.get(place) ?? 0) + value);
  }
}
