import { readStatus } from '../../../jobs/warehouse.ts';
import { shiftDay, type UtcDay } from '../../../src/core/day.ts';
import type { RunEvent, RunReport } from '../../../src/pipeline/events.ts';
import { runUnits } from '../../../src/pipeline/run/run.ts';
import { Gate } from '../../../src/privacy/gate.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import { rigOver } from '../rig/rig.ts';
import type { Held, Place } from '../warehouse/each-database.ts';
import { type Answers, type CleanAnswers, transportOver } from './service.ts';

/** A unit by the ledger. */
export interface LedgerRow {
  readonly stream: string;
  readonly date: string;
  readonly state: string;
  readonly settled_at: string | null;
  readonly confirmed: string | null;
  readonly content_sha256: string | null;
  readonly watch: string | null;
  readonly doubted_at: string | null;
  readonly doubt: string | null;
}

/** How a night is run. */
export interface NightOptions {
  readonly today: UtcDay;
  readonly rangeDays?: number;
  readonly watchDays?: number;
  readonly force?: boolean;
  readonly acceptLoss?: boolean;
}

/** One run of the program at 03:00 UTC, over answers that come from no network. */
export async function runNight(
  warehouse: Held,
  clean: CleanAnswers,
  answers: Pick<Answers, 'to'>,
  { today, rangeDays = 31, watchDays = 31, force = false, acceptLoss = false }: NightOptions,
): Promise<{ report: RunReport; events: RunEvent[] }> {
  const events: RunEvent[] = [];
  const { url } = clean.emulator;
  const lock = await warehouse.lock();
  const report = await runUnits({
    command: 'run',
    lastDay: shiftDay(today, -1),
    asked: { firstDay: null, streams: null, maxAgeSeconds: null },
    force,
    acceptLoss,
    newestFirst: false,
    source: {
      transport: transportOver(answers),
      hosts: { baseUrl: url, appUrl: url },
      gate: new Gate({ mode: 'keep' }),
    },
    warehouse,
    lock,
    clock: new FakeClock({ auto: true, now: `${today}T03:00:00Z` }),
    concurrency: 8,
    rangeDays,
    settleDays: 3,
    minGroup: 5,
    watchDays,
    versions: {},
    observe: (event) => events.push(event),
    signal: new AbortController().signal,
  });
  await lock.release();
  return { report, events };
}

/** What the ledger says, by unit. */
export async function ledgerOf(place: Place): Promise<Map<string, LedgerRow>> {
  const rows = await place.query<LedgerRow>('SELECT * FROM export_units');
  return new Map(rows.map((row) => [`${row.stream} ${row.date}`.trim(), row]));
}

/** Units that have not settled although `daywalk status` calls their day settled, or does not name their doubt. */
export async function unnamed(clean: CleanAnswers, place: Place, today: UtcDay): Promise<string[]> {
  const { settings } = rigOver(clean.emulator, place);
  const clock = new FakeClock({ auto: true, now: `${today}T04:00:00Z` });
  const status = await readStatus(settings, { clock });
  const [organization] = status.organizations;
  const days = new Map(organization?.days.map(({ day, state }) => [String(day), state]));
  const doubted = new Set(organization?.doubted.map(({ stream, day }) => `${stream} ${day}`.trim()));
  return [...(await ledgerOf(place))].flatMap(([name, { date, state, settled_at: settledAt }]) => {
    const isNamed = date === '' || settledAt !== null || !['settled', 'empty'].includes(days.get(date) ?? '');
    const isDoubtNamed = state !== 'doubted' || doubted.has(name);
    return isNamed && isDoubtNamed ? [] : [`${name} is ${state}, and status says ${days.get(date)}`];
  });
}
