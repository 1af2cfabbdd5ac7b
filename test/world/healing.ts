import { ACTS, CHANGES, hasLongLies, isFailure, type Kind, unitsOfMass } from './events.ts';
import { examineEnd, type Fault, type Seen } from './oracle.ts';

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
  const ofMass = world.events.reduce((sum, event) => sum + unitsOfMass(event, night), 0);
  const most = (isLong ? REQUESTS_MAX_OLD : REQUESTS_MAX) + ofMass;
  const nights = Math.max(NIGHTS_AFTER_TROUBLE, ...world.events.map(({ kind }) => nightsMax(kind)));
  return [
    ...(requests > most ? [fault(`${requests} requests, ${since} nights after the last event`)] : []),
    ...(since < nights
      ? []
      : examineEnd(seen).map(({ text }) => fault(`${since} nights after the last event: ${text}`))),
  ];
}
