import { createHash } from 'node:crypto';
import type { AnyTable } from '../../../schema/define.ts';
import { contentSha256 } from '../../../schema/digest.ts';
import { readerOf } from '../../../schema/row.ts';
import type { UtcDay } from '../../core/day.ts';
import { DaywalkError, messageOf, RunError } from '../../core/errors.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import type { NormalizedDay } from '../../pipeline/commit.ts';
import type { PullCall, Source } from '../../pipeline/pull.ts';
import { prepareBatch } from '../../pipeline/run/days/prepare-batch.ts';
import { identify } from '../../pipeline/run/start/newest-day.ts';
import type { Privacy } from '../../privacy/email.ts';
import { withoutErased } from '../../privacy/without-erased.ts';
import { readErased } from '../../warehouse/erased-list.ts';
import { expectName, type NameInFile } from '../../warehouse/organization-names.ts';
import {
  type DayUnit,
  decodeRows,
  isDayUnit,
  type LedgerUnit,
  type Values,
  type Warehouse,
} from '../../warehouse/port.ts';
import type { FindingList } from '../finding.ts';
import { compareGroups } from './compare-groups.ts';

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
  readonly privacy: Privacy;
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
  const privacy = withoutErased(sampling.privacy, await readErased(sampling.warehouse), [orgId]);
  const sample = await sampleOf(sampling, orgId);
  for (const unit of sample) {
    try {
      await compareUnit({ ...sampling, privacy }, unit, call);
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
  return (await warehouse.units(orgId))
    .filter(isDayUnit)
    .filter(({ contentSha256 }) => contentSha256 !== null)
    .map((unit) => ({ unit, rank: rankOf(unit) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, units)
    .map(({ unit }) => unit);
}

async function compareUnit(
  { warehouse, findings, source, privacy }: Sampling,
  unit: SampledUnit,
  call: PullCall,
): Promise<void> {
  const { orgId, stream, day } = unit;
  const { days } = await prepareBatch({ source, orgId, privacy }, { stream, days: [day] }, call);
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
