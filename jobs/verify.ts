import { dayOf, yesterdayOf } from '../src/core/day.ts';
import { DAILY_STREAMS, isDailyStream } from '../src/core/stream.ts';
import { dayCommit } from '../src/pipeline/commit.ts';
import type { DayUnit } from '../src/pipeline/plan.ts';
import { privacyOf } from '../src/pipeline/privacy.ts';
import { identify } from '../src/pipeline/run/identify.ts';
import { prepareBatch } from '../src/pipeline/run/prepare.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { CrossChecks } from '../src/verify/cross-checks.ts';
import { type Finding, FindingList, type Severity } from '../src/verify/finding.ts';
import { checkUnits } from '../src/verify/units.ts';
import type { LedgerUnit, Warehouse } from '../src/warehouse/port.ts';
import type { JobContext } from './context.ts';
import { openTransport } from './open-transport.ts';
import { withWarehouse } from './open-warehouse.ts';

/** What a verification went through and found. */
export interface Verification {
  readonly warehouse: string;
  /** Units whose stored rows were compared with the ledger's digest. */
  readonly units: number;
  readonly rows: number;
  /** Pairs of figures of different endpoints that were compared. */
  readonly comparisons: number;
  /** Units that were pulled again. */
  readonly pulledAgain: number;
  readonly counts: Readonly<Record<Severity, number>>;
  /** The first findings, see {@link counts} for all. */
  readonly findings: readonly Finding[];
}

/**
 * Recomputes every unit's digest from the stored rows, compares the endpoints with each other, and pulls `againstApi`
 * units again, chosen by chance, to compare them with the service. Reads one state of the warehouse, and writes nothing.
 * @throws {UsageError} when there is no warehouse, or no key to pull with.
 */
export function verifyWarehouse(
  settings: Settings,
  { againstApi }: { readonly againstApi: number },
  context: JobContext,
): Promise<Verification> {
  const { clock } = context;
  return withWarehouse(settings.warehouse, { clock, create: false }, async (warehouse) => {
    const findings = new FindingList();
    const crossChecks = new CrossChecks();
    const checked = await warehouse.inSnapshot(() =>
      checkUnits(warehouse, findings, (stream, day) => crossChecks.add(stream, day)),
    );
    const comparisons = crossChecks.report(findings);
    const pulledAgain =
      againstApi === 0 ? 0 : await compareWithService(settings, { warehouse, findings, againstApi }, context);
    return {
      warehouse: warehouse.location,
      ...checked,
      comparisons,
      pulledAgain,
      counts: findings.counts,
      findings: findings.listed,
    };
  });
}

/** Pulls units again and compares their digests with the ledger's. Answers how many. */
async function compareWithService(
  settings: Settings,
  { warehouse, findings, againstApi }: { warehouse: Warehouse; findings: FindingList; againstApi: number },
  context: JobContext,
): Promise<number> {
  const api = requireApi(settings);
  const transport = openTransport(settings, api, context);
  const today = dayOf(context.clock.now());
  try {
    const source = { transport, hosts: api };
    const lastDay = yesterdayOf(context.clock.now());
    // A key answers for one organization, and a warehouse may hold several.
    const { orgId: ownOrg } = await identify(source, { lastDay, streams: DAILY_STREAMS }, context.signal);
    const sample = await sampleOf(warehouse, ownOrg, againstApi);
    for (const unit of sample) {
      const call = { signal: context.signal, meter: { requests: 0, retries: 0 } };
      const batch = { stream: unit.stream, days: [unit.day] as const };
      const { days } = await prepareBatch(
        { source, orgId: unit.orgId, privacy: privacyOf(settings.emails) },
        batch,
        call,
      );
      for (const day of days) {
        const { contentSha256: found } = dayCommit(
          day,
          { today, settleDays: settings.settleDays },
          { pulledAt: context.clock.now(), requests: 0 },
        );
        if (found === unit.contentSha256) continue;
        const what = 'SHA-256 of what the service answers now';
        const { orgId, stream, day: at } = unit;
        findings.add({
          severity: 'difference',
          orgId,
          stream,
          day: at,
          what,
          expected: unit.contentSha256,
          found,
        });
      }
    }
    return sample.length;
  } finally {
    await transport.close();
  }
}

type SampledUnit = DayUnit & Pick<LedgerUnit, 'orgId' | 'contentSha256'>;

/** Units of an organization that have content, chosen by chance. */
async function sampleOf(warehouse: Warehouse, orgId: string, count: number): Promise<SampledUnit[]> {
  const held = (await warehouse.units(orgId)).flatMap(({ stream, day, contentSha256 }) =>
    isDailyStream(stream) && day !== '' && contentSha256 !== null
      ? [{ orgId, stream, day, contentSha256 }]
      : [],
  );
  const chosen: SampledUnit[] = [];
  while (chosen.length < count && held.length > 0) {
    chosen.push(...held.splice(Math.floor(Math.random() * held.length), 1));
  }
  return chosen;
}
