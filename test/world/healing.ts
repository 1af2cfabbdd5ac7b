import { ACTS, CHANGES, hasLongLies, isFailure, type Kind } from './events.ts';
import { examineEnd, type Fault, type Seen } from './oracle.ts';
import { STREAMS } from './truth.ts';

/**
 * Nights after the last event by which all is settled and true, by docs/trust.md, where that is sooner than the end of the
 * world: three looks and the young days after what only kept runs away; with a wrong clock a night more for each such run;
 * a week and three looks where the change of a stream waits for the others.
 */
const NIGHTS_AFTER_TROUBLE = 5;
const NIGHTS_AFTER_CLOCKS = 10;
const NIGHTS_AFTER_CHANGES = 13;
const TROUBLES: ReadonlySet<Kind> = new Set<Kind>([
  ...(['killed', 'killed-in-request', 'disk-full', 'missed', 'twice'] as const),
  ...(['force', 'accept-loss', 'few-requests'] as const),
  ...ACTS,
]);

/** Requests of a night by the nights since the last event: first looks come again, and what differs is looked at alone. */
const REQUESTS_MAX = 60;
const REQUESTS_MAX_OLD = 90;
/** Organizations with so many days have several stretches of a month, and so have lies of a month. */
const OLD_NIGHT = 90;

/** An ordinary night, and ranges of two stretches of all streams; of more stretches where a history has them. */
const REQUESTS_BESIDE = 30;
const REQUESTS_BESIDE_OLD = 50;
/** Of many days that change in one night, so many are requested alone, by docs/trust.md: the newest. */
const DAYS_ALONE = 10;

/**
 * What a run may have requested beside its ranges: the units that it has stored anew, on older days the users alone, whose losses no
 * range decides; and doubted units, in ranges of their own and alone. All that is requested alone at most, if nobody knows what was
 * stored before: after what people did.
 */
function pulledAlone({ stored, before }: Seen): number {
  if (before === null) return DAYS_ALONE * STREAMS.length;
  const had = new Map(before.units.map(({ stream, day, text }) => [`${stream} ${day}`, text]));
  const units = stored?.units ?? [];
  const changed = units.filter(({ stream, day, text }) => (had.get(`${stream} ${day}`) ?? text) !== text);
  const days = [...new Set(changed.map(({ day }) => day))].toSorted((a, b) => b - a);
  const newest = days.slice(0, DAYS_ALONE);
  const asked = changed.filter(({ stream, day }) => stream === 'users' || newest.includes(day));
  const doubted = [units, before.units].map((all) => all.filter(({ state }) => state === 'doubted').length);
  return asked.length + 2 * Math.max(...doubted);
}

function nightsMax(kind: Kind): number {
  if (TROUBLES.has(kind) || isFailure(kind)) return NIGHTS_AFTER_TROUBLE;
  if (kind === 'clock-ahead' || kind === 'clock-behind') return NIGHTS_AFTER_CLOCKS;
  return CHANGES.has(kind) ? NIGHTS_AFTER_CHANGES : Number.POSITIVE_INFINITY;
}

/** I3: what was disturbed is right again within so many nights, each of which sends so many requests at most. */
export function examineHealing(seen: Seen): Fault[] {
  const { world, night, requests } = seen;
  const since = night - world.quietFrom;
  if (since < 0) return [];
  const fault = (text: string): Fault => ({ invariant: 'I3', night, text });
  const isLong = night >= OLD_NIGHT || hasLongLies(world.seed);
  const [most, beside] = isLong ? [REQUESTS_MAX_OLD, REQUESTS_BESIDE_OLD] : [REQUESTS_MAX, REQUESTS_BESIDE];
  const allowed = Math.max(most, beside + pulledAlone(seen));
  const nights = Math.max(NIGHTS_AFTER_TROUBLE, ...world.events.map(({ kind }) => nightsMax(kind)));
  return [
    ...(requests > allowed ? [fault(`${requests} requests, ${since} nights after the last event`)] : []),
    ...(since < nights
      ? []
      : examineEnd(seen).map(({ text }) => fault(`${since} nights after the last event: ${text}`))),
  ];
}
