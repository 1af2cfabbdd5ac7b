import { parseDay } from '../../src/core/day.ts';
import { answerMetric } from '../../src/metrics/index.ts';
import type { Warehouse } from '../../src/port/index.ts';
import { createMetrics } from '../../src/serve/metrics/metrics.ts';
import { readWarehouse } from '../../src/warehouse/open.ts';
import { FakeClock } from '../support/clock/fake-clock.ts';
import { fieldOf, jsonOf } from './command.ts';
import type { Machine } from './machine.ts';
import type { Notices } from './notices.ts';
import { examineOpen } from './open.ts';
import { disagree, type Fault, type Seen } from './oracle.ts';
import { examineDocuments, examinePages } from './pages.ts';
import { BESIDE_ORG_ID } from './stored.ts';
import { dateOf, dayOf } from './truth.ts';

/** Days that have not had three looks yet. */
const RECENT_DAYS = 4;

/** How many nights share one turn of what takes as long as a night; 1 for every night. */
export interface Turns {
  /** Commands, metrics and notifications. */
  readonly surfaces: number;
  readonly pages: number;
  /** The brief and the report. */
  readonly documents: number;
}

export const SELDOM: Turns = { surfaces: 8, pages: 64, documents: 256 };

/** I7 and I8: what the commands and the metrics say about the warehouse of a morning, or of the evening after a second run. */
export async function examineSurfaces(
  machine: Machine,
  seen: Seen,
  { isEnd, notices, turns }: { readonly isEnd: boolean; readonly notices?: Notices; readonly turns: Turns },
): Promise<Fault[]> {
  const { stored, night, hour, outcome, published } = seen;
  if (stored === null || stored.units.length === 0) return [];
  const at = `${dateOf(night)}T${hour < 8 ? '08' : '20'}:00:00Z`;
  const faults: string[] = [];
  const status = jsonOf(await machine.command(['status', '--json'], at));
  const organization = listOf(fieldOf(status, 'organizations')).find(
    (one) => fieldOf(one, 'orgId') !== BESIDE_ORG_ID,
  );
  const open = openOf(organization);
  const other = listOf(fieldOf(status, 'organizations')).find((one) => one !== organization);
  for (const state of openOf(other).keys())
    if (state !== 'first-looks') faults.push(`I8: status has ${state} open for the other organization`);
  // What waits beside other streams of its day until it is old is listed as the oldest day that has not settled; a day of which
  // nothing was published yet is listed as awaiting.
  const awaited = listOf(fieldOf(organization, 'days')).flatMap((day) =>
    fieldOf(day, 'state') === 'awaiting' ? [dayOf(String(fieldOf(day, 'day')))] : [],
  );
  const examined = stored.units.filter(({ state, day }) => state !== 'awaiting' || !awaited.includes(day));
  const settled = examined.every(
    (unit) => unit.isSettled || unit.day > night - RECENT_DAYS || disagree(published, unit.day),
  );
  const isTrue = examined.every(
    (unit) => unit.state === 'expired' || unit.text === published.storedTruth(unit.stream, unit.day),
  );
  const neverConfirmed = listOf(fieldOf(organization, 'neverConfirmed')).length;
  if (
    (!settled || !isTrue) &&
    published.isHonest() &&
    outcome.exitCode === 0 &&
    open.size === 0 &&
    neverConfirmed === 0 &&
    isOld(seen)
  )
    faults.push('I2: status has nothing open, although not everything is settled and true');
  const doubted = listOf(fieldOf(organization, 'doubted')).filter(
    (unit) => fieldOf(unit, 'stream') !== 'readiness',
  ).length;
  const doubtedUnits = stored.units.filter(({ state }) => state === 'doubted').length;
  if (doubted !== doubtedUnits)
    faults.push(`I7: status has ${doubted} doubted units, the ledger ${doubtedUnits}`);
  const exitCode = fieldOf(status, 'runs', 0, 'exitCode');
  // On a full disk a run cannot note its end, what began after the morning is not listed yet, and by a clock that is behind by
  // hours the run of the night before is the last one.
  if (
    outcome.exitCode !== null &&
    outcome.error === null &&
    !outcome.isStruck &&
    outcome.at <= at &&
    outcome.at.startsWith(dateOf(night)) &&
    exitCode !== outcome.exitCode
  )
    faults.push(
      `I7: status says that the last run ended with ${String(exitCode)}; it ended with ${outcome.exitCode}`,
    );
  // In this process: a process that reads costs more than the night.
  const clock = new FakeClock({ now: at, auto: true });
  faults.push(
    ...(await readWarehouse(machine.warehouse, { clock }, async (warehouse) => [
      ...(await metricsFaults(warehouse, clock, open)),
      ...(await numberFaults(warehouse, seen, String(fieldOf(organization, 'orgId')))),
      ...(isTurn(seen, turns.pages) ? await examinePages({ warehouse, clock, seen }) : []),
      ...((await notices?.examine(warehouse, clock, seen)) ?? []),
    ])),
    ...examineOpen(organization, seen),
    ...(isTurn(seen, turns.documents) ? await examineDocuments(machine, seen) : []),
  );
  if (isEnd && open.size > 0)
    faults.push(`I8: at the end of the world ${[...open.keys()].join(', ')} is still open`);
  return faults.map((text) => ({ invariant: text.slice(0, 2), night, text }));
}

/** True in one of so many nights. */
export function isTurn({ world, night }: Seen, every: number): boolean {
  return (world.seed + night) % every === 0;
}

/** A day that is older than its looks has something to say. */
function isOld({ stored, night }: Seen): boolean {
  return stored?.units.some(({ day, isSettled }) => day < night - RECENT_DAYS && !isSettled) === true;
}

function openOf(organization: unknown): ReadonlyMap<string, number> {
  return new Map(
    listOf(fieldOf(organization, 'open')).map((state) => [
      String(fieldOf(state, 'state')),
      Number(fieldOf(state, 'count')),
    ]),
  );
}

/** The metrics count what the status lists. */
async function metricsFaults(
  warehouse: Warehouse,
  clock: FakeClock,
  open: ReadonlyMap<string, number>,
): Promise<string[]> {
  const text = await createMetrics({ clock, settings: () => ({ organizationsFile: null }) }).text({
    read: (work) => work(warehouse, clock.now().toISOString()),
    close: async () => undefined,
  });
  const shown = [...text.matchAll(/^daywalk_open\{.*state="([^"]+)".*\} (\d+)$/gm)].flatMap(
    ([line, state = '', count]) =>
      Number(count) > 0 && !line.includes(BESIDE_ORG_ID) ? [`${state} ${count}`] : [],
  );
  const listed = [...open].map(([state, count]) => `${state} ${Math.max(count, 1)}`);
  return shown.toSorted().join() === listed.toSorted().join()
    ? []
    : [`I7: the metrics have open ${shown.join()}, the status ${listed.join()}`];
}

/** The metrics that are the sum of a column of `users`, and where the text of each row has it. */
const NUMBERS: readonly (readonly [metric: string, word: number])[] = [
  ['sessions', 1],
  ['files_created', 3],
];

/** A metric is the sum of what is stored: after a lost volume, that of whatever organization answered first. */
async function numberFaults(warehouse: Warehouse, { stored, night }: Seen, orgId: string): Promise<string[]> {
  const faults: string[] = [];
  const rows = (stored?.units ?? [])
    .filter(({ stream, day }) => stream === 'users' && day < night)
    .flatMap(({ text }) => (text === '' ? [] : text.split(', ')));
  for (const [metric, word] of NUMBERS) {
    const sum = rows.reduce((total, row) => total + Number(row.split(' ')[word] ?? 0), 0);
    const question = { metric, orgId, by: [], until: parseDay(dateOf(night - 1)) };
    const { rows: answered } = await answerMetric(warehouse, question);
    const value = Number(answered[0]?.['value'] ?? 0);
    if (value !== sum) faults.push(`I7: the metric ${metric} is ${value}, and the stored rows have ${sum}`);
  }
  return faults;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
