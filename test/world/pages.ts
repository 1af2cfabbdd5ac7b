import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createAssistant } from '../../src/assistants/assistant.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { createPageSource } from '../../src/look/server/page-source.ts';
import type { Warehouse } from '../../src/port/index.ts';
import { readHealth } from '../../src/serve/serve.ts';
import { createServiceState } from '../../src/serve/service-state.ts';
import type { KeptWarehouse } from '../../src/warehouse/index.ts';
import { fieldOf } from './command.ts';
import type { Machine } from './machine.ts';
import type { Seen } from './oracle.ts';
import { dateOf, dayOf, STREAMS } from './truth.ts';

/** What is compared with what is stored. */
interface Morning {
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly seen: Seen;
  readonly last: number;
}

/** The figures that are sums of a column of `users`, by the word of the stored text that has it. */
const SESSIONS = 1;
const CREDITS = 4;

/** I7: the dashboard, the assistants and the probe of the service say what is stored and what `status` says. */
export async function examinePages(morning: Omit<Morning, 'last'>): Promise<string[]> {
  const { warehouse, seen } = morning;
  // The clock of the world passes all time at once, so that a limit on the time of a page would end while PostgreSQL answers.
  const clock = systemClock(morning.clock.now());
  const kept: KeptWarehouse = {
    read: (work) => work(warehouse, `night ${seen.night}`),
    close: async () => undefined,
  };
  const failed: string[] = [];
  const report = (error: unknown, where: string) => void failed.push(`I7: ${where} failed: ${String(error)}`);
  const pages = createPageSource({ warehouse: kept, clock, footer: [], hintOf: () => undefined, report });
  const last = newestDay(seen);
  const orgId = seen.stored?.orgId ?? null;
  const read: Read = async (path, first = 0) => {
    const url = new URL(path, 'http://daywalk.invalid');
    for (const [name, day] of [['from', first] as const, ['until', last] as const])
      url.searchParams.set(name, dateOf(day));
    if (orgId !== null) url.searchParams.set('org', orgId);
    return String((await pages.answer(url)).body);
  };
  const whole = { ...morning, clock, last };
  return [
    ...(await creditFaults(read, whole)),
    ...(await coverageFaults(read, whole)),
    ...(await peopleFaults(read, whole)),
    ...(await assistantFaults(kept, whole)),
    ...(await healthFaults(kept, whole)),
    ...failed,
  ];
}

/** Reads a page of the days from one on. */
type Read = (path: string, first?: number) => Promise<string>;

/** The newest day that can be asked for; a clock that was ahead has brought units of later days. */
function newestDay({ night }: Seen): number {
  return Math.max(0, night - 1);
}

function usersOn({ stored }: Seen, day: number): readonly string[][] {
  const text = stored?.units.find((unit) => unit.stream === 'users' && unit.day === day)?.text ?? '';
  return text === '' ? [] : text.split(', ').map((row) => row.split(' '));
}

function sumOn(seen: Seen, day: number, word: number): number {
  return usersOn(seen, day).reduce((sum, row) => sum + Number(row[word] ?? 0), 0);
}

/** The lines of a CSV file without line breaks in its fields; none if the page has no such figure, so that the answer is a page. */
function linesOf(csv: string): string[][] {
  if (csv.startsWith('<')) return [];
  const fieldsOf = (line: string) =>
    Array.from(line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g), ([, quoted, plain]) => quoted ?? plain ?? '');
  return csv.trim().split(/\r?\n/).slice(1).map(fieldsOf);
}

/** Days of a period that is drawn by day. */
const DRAWN_DAYS = 28;

async function creditFaults(read: Read, { seen, last }: Morning): Promise<string[]> {
  const first = Math.max(0, last - DRAWN_DAYS + 1);
  const lines = linesOf(await read('/?csv=credits-per-day', first));
  // With prices the figure is about costs.
  if (lines.length === 0) return [];
  const shown = new Map(lines.map(([day = '', value = '']) => [day, Number(value)]));
  return Array.from({ length: last + 1 - first }, (_, index) => first + index).flatMap((day) => {
    const [own, page] = [sumOn(seen, day, CREDITS), shown.get(dateOf(day)) ?? 0];
    return own === page
      ? []
      : [`I7: the overview has ${page} credits on ${dateOf(day)}, the stored rows ${own}`];
  });
}

/** What the calendar calls a state of the ledger, where it has only one word for it. */
const MARKS: Readonly<Record<string, string>> = {
  quarantined: 'quarantined records',
  doubted: 'doubted',
  failed: 'failed',
  expired: 'people expired',
};

async function coverageFaults(read: Read, { seen, last }: Morning): Promise<string[]> {
  const spans = linesOf(await read('/data?csv=coverage'));
  const markOf = (stream: string, date: string) =>
    spans.find(([span = '', own]) => {
      const [from = '', until = from] = span.split(' to ');
      return own === stream && from <= date && date <= until;
    })?.[3];
  return (seen.stored?.units ?? []).flatMap(({ stream, day, state, isSettled, confirmed }) => {
    const mark = day > last ? undefined : markOf(stream, dateOf(day));
    // The table has the newest spans only.
    if (mark === undefined) return [];
    const isShownSettled = mark === 'loaded' || mark === 'empty, settled';
    const isRight =
      MARKS[state] === undefined
        ? isShownSettled === (isSettled && confirmed !== 'age')
        : mark === MARKS[state];
    return isRight ? [] : [`I7: the page of data calls ${stream} ${dateOf(day)} "${mark}"; it is ${state}`];
  });
}

async function peopleFaults(read: Read, { seen, last }: Morning): Promise<string[]> {
  const people = linesOf(await read('/people?csv=people'));
  const shown = people.map((row) => Number(row[3])).toSorted((a, b) => a - b);
  const sums = new Map<string, number>();
  for (let day = 0; day <= last; day += 1)
    for (const row of usersOn(seen, day))
      sums.set(row[0] ?? '', (sums.get(row[0] ?? '') ?? 0) + Number(row[CREDITS]));
  const own = [...sums.values()].toSorted((a, b) => a - b);
  // What rests on days whose people have expired is no number.
  if (seen.stored?.units.some(({ state }) => state === 'expired') === true) return [];
  // Erased people are one group, which is left out below five.
  return seen.published.erased.size > 0 || shown.join() === own.join()
    ? []
    : [`I7: the page of people has the credits ${shown.join()}, the stored rows ${own.join()}`];
}

async function assistantFaults(warehouse: KeptWarehouse, { clock, seen, last }: Morning) {
  const faults: string[] = [];
  const assistant = createAssistant({
    ...{
      warehouse,
      clock,
      audience: 'managers',
      organization: seen.stored?.orgId ?? undefined,
      minGroup: 5,
      callMsMax: 600_000,
    },
    observe: () => undefined,
    report: (error) => void faults.push(`I7: the assistant failed: ${String(error)}`),
  });
  const question = { metric: 'sessions', from: dateOf(0), until: dateOf(last) };
  const { data, text } = await assistant.call('query_metric', question);
  const own = Array.from({ length: last + 1 }, (_, day) => sumOn(seen, day, SESSIONS)).reduce(
    (a, b) => a + b,
    0,
  );
  const total = Number(fieldOf(data, 'total') ?? 0);
  // Over days whose people have expired there is no total, and they are not expected.
  const isKnown = seen.stored?.units.every(({ state }) => state !== 'expired') === true;
  if (isKnown && total !== own)
    faults.push(`I7: the assistant has ${total} sessions, the stored rows ${own}: ${text}`);
  const settled = settledDays(seen, last);
  const covered = fieldOf((await assistant.call('coverage', {})).data, 'days', 'settled');
  return covered === settled || !isKnown
    ? faults
    : [...faults, `I7: the assistant has ${String(covered)} settled days, the ledger ${settled}`];
}

/** Days of which all streams have settled, and something has confirmed it. */
function settledDays({ stored }: Seen, last: number): number {
  const units =
    stored?.units.filter(
      ({ day, isSettled, confirmed }) => isSettled && confirmed !== 'age' && day <= last,
    ) ?? [];
  const byDay = Map.groupBy(units, ({ day }) => day);
  return [...byDay.values()].filter(({ length }) => length === STREAMS.length).length;
}

async function healthFaults(warehouse: KeptWarehouse, { clock, seen }: Morning): Promise<string[]> {
  const state = createServiceState(clock);
  const { healthy, reason } = await readHealth(warehouse, { clock, state, names: null });
  const { exitCode } = seen.outcome;
  if (exitCode === 0 && !healthy && !isSilent(seen, reason) && !isOld(seen, clock.now(), reason))
    return [`I7: the run ended with 0, and the probe says: ${reason}`];
  return exitCode === 3 && healthy ? [`I7: the key was refused, and the probe says: ${reason}`] : [];
}

/** I7: the brief of the last whole week and the report of all days have the numbers that are stored. */
export async function examineDocuments(machine: Machine, seen: Seen): Promise<string[]> {
  const faults: string[] = [];
  const at = `${dateOf(seen.night)}T08:00:00Z`;
  const brief = join(machine.folder, 'brief');
  const whose = seen.stored?.orgId ? ['--organization', seen.stored.orgId] : [];
  const written = await machine.command(['brief', '--out', brief, ...whose], at);
  const [, from, until] = /written, (\S+) to (\S+),/.exec(written.stdout) ?? [];
  if (written.code !== 0 && written.code !== 2)
    faults.push(`I7: the brief ended with ${written.code}: ${written.stderr}`);
  if (from !== undefined && until !== undefined) {
    if (new Date(until).getUTCDay() !== 0 || dayOf(until) - dayOf(from) !== 6)
      faults.push(`I7: the brief of a week is about ${from} to ${until}`);
    const credits = daysOf(seen, from, until).reduce((sum, day) => sum + sumOn(seen, day, CREDITS), 0);
    const text = readFileSync(join(brief, 'body.txt'), 'utf8');
    // With prices the brief is about costs.
    const [, shown = grouped(credits)] = /([\d,]+) CREDITS/.exec(text) ?? [];
    if (shown !== grouped(credits))
      faults.push(
        `I7: the stored rows of ${from} to ${until} have ${credits} credits, and the brief says ${text.slice(0, 300)}`,
      );
  }
  const report = join(machine.folder, 'report.html');
  const { code, stderr } = await machine.command(
    ['report', '--out', report, '--from', dateOf(0), '--until', dateOf(newestDay(seen)), ...whose],
    at,
  );
  if (code !== 0) return [...faults, `I7: the report ended with ${code}: ${stderr}`];
  const credits = daysOf(seen, dateOf(0), dateOf(newestDay(seen))).reduce(
    (sum, day) => sum + sumOn(seen, day, CREDITS),
    0,
  );
  const isKnown = seen.stored?.units.every(({ state }) => state !== 'expired') === true;
  if (isKnown && !readFileSync(report, 'utf8').includes(`>${grouped(credits)}<`))
    faults.push(`I7: the stored rows have ${credits} credits, and the report does not say so`);
  rmSync(brief, { recursive: true, force: true });
  rmSync(report);
  return faults;
}

function daysOf({ stored }: Seen, from: string, until: string): number[] {
  return (stored?.units ?? [])
    .filter(({ stream, day }) => stream === 'users' && from <= dateOf(day) && dateOf(day) <= until)
    .map(({ day }) => day);
}

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** True if the probe names a stream for its last days, and none of them has rows. */
function isSilent({ stored }: Seen, reason: string): boolean {
  const [, stream, first = '', last = ''] =
    /^(?:\w+: )?(\w+) has no data from (\S+) to ([^,]+),/.exec(reason) ?? [];
  const silent = stored?.units.filter(
    (unit) => unit.stream === stream && first <= dateOf(unit.day) && dateOf(unit.day) <= last,
  );
  return silent !== undefined && silent.length > 0 && silent.every(({ text }) => text === '');
}

/** An export that ended longer ago makes the probe unhealthy. */
const OLD_HOURS = 26;

/** True if the probe names the end of this run or a later one, and by the clock of that run, which was behind, it is too long ago. */
function isOld({ outcome }: Seen, now: Date, reason: string): boolean {
  const [, ended = ''] =
    /^(?:\w+: )?the last complete export of all expected streams ended at (\S+),/.exec(reason) ?? [];
  const endedMs = Date.parse(ended);
  return endedMs >= Date.parse(outcome.at) && now.getTime() - endedMs > OLD_HOURS * 3_600_000;
}
