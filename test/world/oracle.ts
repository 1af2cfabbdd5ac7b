import type { Cost } from './costs.ts';
import { isLie, type Kind, unitsOfMass, type World } from './events.ts';
import type { Outcome } from './machine.ts';
import { type Published, REPORTS } from './published.ts';
import type { Stored, StoredUnit } from './stored.ts';
import { dateOf, type Night, STREAMS } from './truth.ts';

/** A promise that did not hold. */
export interface Fault {
  readonly invariant: string;
  readonly night: Night;
  readonly text: string;
}

/** What the oracle looks at after a run. */
export interface Seen {
  readonly world: World;
  readonly published: Published;
  readonly night: Night;
  readonly stored: Stored | null;
  /** What was stored before the run; null if nobody knows. */
  readonly before: Stored | null;
  readonly outcome: Outcome;
  /** Requests of the run that got no good answer. */
  readonly failed: number;
  /** Those among them whose key was refused. */
  readonly refused: number;
  readonly requests: number;
  /** The hour of the run. */
  readonly hour: number;
  readonly cost: Cost;
}

/** Looks that settle a unit, by docs/trust.md: what is shown alike on so many nights is believed. */
const LOOKS = 3;
/** Lists without a report after which it is deleted; {@link LOOKS} if more than half of them are missing. */
const PASSES = 2;
/** A loss of all rows is stored so long after it was first seen, at the earliest. The first run of a night is at {@link FIRST_HOUR}. */
const LOSS_HOURS = 60;
const FIRST_HOUR = 3;
/** Days that have not had these looks yet. */
const RECENT_DAYS = 4;

/** Examines a night. The oracle knows the truth, and shares no code with the program. */
export function examineNight(seen: Seen): Fault[] {
  const fault = (invariant: string, text: string): Fault => ({ invariant, night: seen.night, text });
  const { stored } = seen;
  return [
    ...(stored === null ? [] : stored.units.flatMap((unit) => contentFaults(unit, seen))).map((text) =>
      fault('I1', text),
    ),
    ...lossFaults(seen).map((text) => fault('I1', text)),
    ...restatementFaults(seen).map((text) => fault('I1', text)),
    ...leaverFaults(seen).map((text) => fault('I2', text)),
    ...codeFaults(seen).map((text) => fault('I2', text)),
    ...nameFaults(seen).map((text) => fault('I2', text)),
    ...costFaults(seen).map((text) => fault('I5', text)),
    ...alarmFaults(seen).map((text) => fault('I8', text)),
  ];
}

/** I1: nothing is stored that was not published, and nothing settles that was not published for good or shown on three nights. */
function contentFaults(unit: StoredUnit, { published, night, outcome }: Seen): string[] {
  const { stream, day, text, state, isSettled } = unit;
  if (state === 'quarantined') return [];
  // A run that was killed, or whose disk was full, has not come to what it removes at its end. A clock that is behind keeps people longer.
  const hasEnded = outcome.exitCode !== null && !outcome.isStruck && !published.isHappening('clock-behind');
  if (hasEnded && published.isExpired(stream, day) && text !== '')
    return [`${nameOf(unit)} keeps people for too long: ${text}`];
  if (state === 'expired') return [];
  const nights = published.nightsOf(stream, day, text);
  if (text !== '' && nights === 0) return [`${nameOf(unit)} holds what was never published: ${text}`];
  if (!isSettled || nights >= LOOKS || isEverTrue(unit, published, night)) return [];
  return [
    `${nameOf(unit)} settled on what was shown on ${nights} nights and never true: "${text}", ${unit.confirmed}`,
  ];
}

function isEverTrue({ stream, day, text }: StoredUnit, published: Published, night: Night): boolean {
  return published
    .versions(stream, day)
    .some(({ from, content }) => from <= night && published.storedText(stream, content) === text);
}

/** I1: what is stored goes only if it was away on three nights, or if a person accepts the loss. */
function lossFaults(seen: Seen): string[] {
  const { stored, before, published } = seen;
  if (stored === null || before === null || published.isHappening('accept-loss')) return [];
  const lost = before.reports.filter((report) => !stored.reports.includes(report));
  const needed = lost.length === before.reports.length ? LOOKS : PASSES;
  const reports = lost
    .filter((report) => published.nightsWithoutReport(report) < needed)
    .map(
      (report) =>
        `report ${report} was lost after ${published.nightsWithoutReport(report)} nights without it`,
    );
  const had = new Map(before.units.map((unit) => [`${unit.stream} ${unit.day}`, unit]));
  const units = stored.units.flatMap((unit) => {
    const { stream, day, text, state } = unit;
    const { text: lost = '', isSettled = false } = had.get(`${stream} ${day}`) ?? {};
    if (lost === '' || state === 'expired') return [];
    const nights = text === '' ? nightsGone(unit, lost, published) : LOOKS;
    if (nights < LOOKS) return [`${nameOf(unit)} lost "${lost}" after ${nights} nights without it`];
    const hours = text === '' ? hoursSince(published.missingSince(stream, day, lost), seen) : LOSS_HOURS;
    if (hours < LOSS_HOURS)
      return [`${nameOf(unit)} lost "${lost}" ${hours} hours after it was first missed`];
    if (stream !== 'users' || published.erased.size > 0) return [];
    // Before a day has settled, and where a person has its change stored, users are missing if it has more active users than it lists.
    const isForced = published.isHappening('force');
    const active = had.get(`activity ${day}`);
    // A figure that has settled is not asked for again, unless a person wants it.
    const figure = active?.isSettled === true && !isForced ? active.text : undefined;
    if ((!isSettled || isForced) && !published.isShortOfUsers(day, figure)) return [];
    const kept = namesIn(text);
    return lost.split(', ').flatMap((row) => {
      const nights = published.nightsWithout(day, row);
      return kept.has(row.split(' ')[0] ?? '') || nights >= LOOKS
        ? []
        : [`${nameOf(unit)} lost the user of "${row}" after ${nights} nights without them`];
    });
  });
  return [...reports, ...units];
}

/** The nights on which all that a unit has lost was away. Others who came meanwhile were doubted or in quarantine, and not stored. */
function nightsGone({ stream, day }: StoredUnit, lost: string, published: Published): number {
  if (stream !== 'users') return published.nightsOf(stream, day, '');
  return Math.min(...lost.split(', ').map((row) => published.nightsWithout(day, row)));
}

/** The longest time since a night; for ever if the clock was wrong meanwhile. */
function hoursSince(night: Night | null, { world, ...now }: Seen): number {
  const isWrong = world.events.some(({ kind, from }) => /^clock/.test(kind) && from <= now.night);
  if (night === null || isWrong) return Number.POSITIVE_INFINITY;
  return 24 * (now.night - night) + now.hour - FIRST_HOUR;
}

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(', ').map((row) => row.split(' ')[0] ?? ''));
}

/** I1: what changes after it was stored is listed among the restatements. */
function restatementFaults({ stored, before }: Seen): string[] {
  if (stored === null || before === null) return [];
  const had = new Map(before.units.map((unit) => [`${unit.stream} ${unit.day}`, unit]));
  return stored.units.flatMap((unit) => {
    const was = had.get(`${unit.stream} ${unit.day}`);
    if (was === undefined || was.text === '' || was.text === unit.text || unit.state === 'expired') return [];
    return unit.restatements > was.restatements
      ? []
      : [`${nameOf(unit)} changed from "${was.text}" to "${unit.text}" without a restatement`];
  });
}

/** I2: users who are replaced by others are no leavers. */
function leaverFaults(seen: Seen): string[] {
  const { stored, published, night } = seen;
  if (stored === null || published.erased.size > 0) return [];
  const hasJudgedAll = judgesAll(seen);
  return stored.units.flatMap((unit) => {
    if (unit.stream !== 'users' || unit.doubt === null || !/leaver/.test(unit.doubt)) return [];
    // Where the run did not come to judge what it was shown, a doubt of earlier nights stands.
    if (!hasJudgedAll && !unit.doubt.includes(dateOf(night))) return [];
    const [shown, ...others] = published.shownTonight('users', unit.day);
    if (shown === undefined || shown === '' || others.length > 0) return [];
    const known = namesIn(unit.text);
    const come = [...namesIn(shown)].filter((name) => !known.has(name));
    return come.length === 0 ? [] : [`${nameOf(unit)} counts leavers, although ${come.join(', ')} came`];
  });
}

/** True if the run has judged every answer: nothing ended it early, and its organization was not refused. */
function judgesAll({ outcome: { exitCode, isStruck }, failed, published }: Seen): boolean {
  const isRefused = published.isHappening('other-users') || published.isHappening('other-organization');
  return (
    exitCode !== null && !isStruck && failed === 0 && !isRefused && !published.isHappening('few-requests')
  );
}

/** I2: the exit code is the documented one. */
function codeFaults({ outcome, stored, refused, night, published }: Seen): string[] {
  const { exitCode, error, isStruck, isNoted } = outcome;
  if (exitCode === null) return [];
  const told = `exit code ${exitCode}${error === null ? '' : `, ${String(error)}`}`;
  if (exitCode === 1) return [`a defect: ${told}${error instanceof Error ? `\n${error.stack}` : ''}`];
  if (isStruck) return exitCode === 6 || isNoted ? [] : [`a full disk ended with ${told}`];
  // The last request that a run may send can be refused while another part of it is told that no more may be sent.
  const isUsedUp = exitCode === 4 && published.isHappening('few-requests');
  if (refused > 0) return exitCode === 3 || isUsedUp ? [] : [`a refused key ended with ${told}`];
  if (exitCode === 6 || exitCode === 75) return [`nothing was wrong with the machine: ${told}`];
  if (exitCode !== 0 || stored === null) return [];
  const bad = stored.units.find(
    ({ state, doubt, day }) =>
      day < night &&
      (state === 'failed' ||
        state === 'pending' ||
        (state === 'doubted' && !/leaver|reports/.test(doubt ?? ''))),
  );
  if (bad !== undefined)
    return [`${told}, although ${nameOf(bad)} is ${bad.state} (${bad.lastError ?? bad.doubt})`];
  const known = new Set(stored.units.map((unit) => `${unit.stream} ${unit.day}`));
  const holes = Array.from({ length: night }, (_, day) =>
    STREAMS.filter((stream) => !known.has(`${stream} ${day}`)).map((stream) => `${stream} ${dateOf(day)}`),
  ).flat();
  // A clock that is behind expects no newer days.
  if (holes.length > 0 && !published.isHappening('clock-behind'))
    return [`${told}, although ${holes.slice(0, 3).join(', ')} was never requested`];
  return stored.quarantined > 0 ? [`${told}, although ${stored.quarantined} records are in quarantine`] : [];
}

/** I2: after an honest night, whatever is not true is open, or noted as seen otherwise. */
function nameFaults({ stored, published, night, outcome }: Seen): string[] {
  if (stored === null || outcome.exitCode === null || outcome.isStruck || !published.isHonest()) return [];
  const known = new Map(stored.units.map((unit) => [`${unit.stream} ${unit.day}`, unit]));
  const days = Array.from({ length: Math.min(night, 31) }, (_, back) => night - 1 - back);
  return days.flatMap((day) =>
    STREAMS.flatMap((stream) => {
      const unit = known.get(`${stream} ${day}`);
      if (unit === undefined) return [`${stream} ${dateOf(day)} is not in the ledger`];
      const truth = published.storedTruth(stream, day);
      const isNamed = !unit.isSettled || unit.watch !== null || unit.confirmed === 'age';
      return unit.text === truth || isNamed
        ? []
        : [
            `${nameOf(unit)} is settled and unlike the service, and nothing says so: "${unit.text}" for "${truth}"`,
          ];
    }),
  );
}

/** An ordinary night of so small an organization: 14 requests, and some 200 writes with an archive. */
const REQUESTS_MAX = 40;
const WRITES_MAX = 500;
/** With a history of months, more rows of sums are written. */
const WRITES_MAX_OLD = 1_000;
const OLD_NIGHT = 90;
/** Statements that read, and bytes of the pages of the warehouse that are written anew. */
const READS_MAX = 1_500;
const CHANGED_BYTES_MAX = 1_000_000;
/** What the process of the world holds after a night, whatever it has lived through: a run keeps nothing. */
const HEAP_BYTES_MAX = 400_000_000;
/** The nights after the last event in which more is asked, because what happened is looked at again. */
export const BUSY_NIGHTS = 8;

/** I5: an ordinary night sends and writes little. */
function costFaults({ world, night, requests, outcome: { writes }, cost }: Seen): string[] {
  const { reads, changed, heap } = cost;
  if (heap > HEAP_BYTES_MAX) return [`${heap} bytes are held after a night`];
  if (night < world.quietFrom + BUSY_NIGHTS) return [];
  return [
    ...(reads > READS_MAX ? [`an ordinary night read ${reads} times`] : []),
    ...((changed ?? 0) > CHANGED_BYTES_MAX ? [`an ordinary night changed pages of ${changed} bytes`] : []),
    ...(requests > REQUESTS_MAX ? [`an ordinary night sent ${requests} requests`] : []),
    ...(writes > (night < OLD_NIGHT ? WRITES_MAX : WRITES_MAX_OLD)
      ? [`an ordinary night wrote ${writes} times`]
      : []),
  ];
}

const DOUBTFUL: ReadonlySet<Kind> = new Set<Kind>(['user-gone', 'clock-ahead']);

/** I8: without a lie, a loss and a mass, nothing is reported that only a person could end. */
function alarmFaults({ world, outcome: { exitCode }, night }: Seen): string[] {
  const mayDoubt = world.events.some(
    (event) => isLie(event.kind) || DOUBTFUL.has(event.kind) || unitsOfMass(event, night) > 0,
  );
  return exitCode === 5 && !mayDoubt ? [`an honest service, and exit code 5 in night ${night}`] : [];
}

/** I3: at the end of a world everything is settled and true. */
export function examineEnd({ published, night, stored, outcome }: Seen): Fault[] {
  const fault = (text: string): Fault => ({ invariant: 'I3', night, text });
  if (stored === null) return [fault('there is no warehouse')];
  const faults =
    outcome.exitCode === 0 ? [] : [fault(`the last night ends with exit code ${outcome.exitCode}`)];
  if (stored.reports.length < REPORTS.length)
    faults.push(fault(`only the reports ${stored.reports.join(', ')} are stored`));
  for (const unit of stored.units) {
    const { stream, day, text, isSettled } = unit;
    if (day > night - RECENT_DAYS) continue;
    const truth = published.storedTruth(stream, day);
    if (text !== truth) faults.push(fault(`${nameOf(unit)} is "${text}" instead of "${truth}"`));
    else if (!isSettled && !disagree(published, day))
      faults.push(fault(`${nameOf(unit)} has not settled: ${unit.state} ${unit.watch}`));
  }
  return faults;
}

/** True if one stream has no row of a day beside others that have some: by docs/trust.md it waits until it is 31 days old. */
export function disagree(published: Published, day: number): boolean {
  const texts = STREAMS.map((stream) => published.storedTruth(stream, day));
  return texts.includes('') && texts.some((text) => text !== '');
}

function nameOf({ stream, day, state, isSettled }: StoredUnit): string {
  return `${stream} ${dateOf(day)} (day ${day}, ${state}${isSettled ? ', settled' : ''})`;
}
