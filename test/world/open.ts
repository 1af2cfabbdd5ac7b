import { fieldOf } from './command.ts';
import { CHANGES } from './events.ts';
import type { Seen } from './oracle.ts';
import type { StoredUnit } from './stored.ts';
import { dateOf, dayOf, STREAMS } from './truth.ts';

/** A state that `status` has open. */
interface Open {
  readonly state: string;
  readonly count: number;
  /** Its days; null for readiness reports. */
  readonly first: number | null;
  readonly last: number | null;
}

/** Days that have not had three looks yet. */
const RECENT_DAYS = 4;
/** Every run compares so many days. A change of an older one is noticed in so many nights, when its stretch has its turn. */
const [WATCHED_DAYS, ROUND_NIGHTS] = [31, 7];

/** I2: `status` names every unit that waits for something, by the state that it is in, and names nothing else. */
export function examineOpen(organization: unknown, seen: Seen): string[] {
  const { stored } = seen;
  if (stored === null) return [];
  const open = openIn(organization);
  return [...countFaults(open, seen), ...forgotten(open, organization, seen), ...invented(open, seen)];
}

function openIn(organization: unknown): Open[] {
  const listed = fieldOf(organization, 'open');
  const dayIn = (value: unknown) => (typeof value === 'string' ? dayOf(value) : null);
  return (Array.isArray(listed) ? listed : []).map((state) => ({
    state: String(fieldOf(state, 'state')),
    count: Number(fieldOf(state, 'count')),
    first: dayIn(fieldOf(state, 'firstDay')),
    last: dayIn(fieldOf(state, 'lastDay')),
  }));
}

const isLeaver = ({ doubt }: StoredUnit) => /"leaver"/.test(doubt ?? '');

/** What the ledger and the quarantine count. */
function countFaults(open: readonly Open[], { stored }: Seen): string[] {
  const units = stored?.units ?? [];
  const doubted = units.filter(({ state }) => state === 'doubted');
  const counted = (...states: readonly string[]) =>
    open.reduce((sum, { state, count }) => sum + (states.includes(state) ? count : 0), 0);
  const expected: readonly (readonly [what: string, shown: number, real: number])[] = [
    ['doubted', counted('doubted'), doubted.filter((unit) => !isLeaver(unit)).length],
    ['leavers', counted('leavers'), doubted.filter(isLeaver).length],
    ['quarantined and impossible', counted('quarantined', 'impossible'), stored?.quarantined ?? 0],
    ['missing reports', counted('reports-missing', 'most-reports-missing'), stored?.missingReports ?? 0],
  ];
  return expected.flatMap(([what, shown, real]) =>
    shown === real ? [] : [`I2: status names ${shown} as ${what}, and ${real} are stored so`],
  );
}

/** What waits for more than its first looks, and no open state names its day. */
function forgotten(
  open: readonly Open[],
  organization: unknown,
  { world, stored, night, published, outcome }: Seen,
) {
  if (outcome.exitCode === null || outcome.isStruck || !published.isHonest()) return [];
  const old = fieldOf(organization, 'neverConfirmed');
  const confirmed = JSON.stringify(old ?? '');
  const isChanged = world.events.some(
    ({ kind, from }) => CHANGES.has(kind) && from <= night && night < from + ROUND_NIGHTS,
  );
  const isNamed = ({ day }: StoredUnit) =>
    (isChanged && day < night - WATCHED_DAYS) ||
    open.some(({ first, last }) => first !== null && last !== null && first <= day && day <= last);
  return (stored?.units ?? []).flatMap((unit) => {
    const { stream, day, text, state, isSettled } = unit;
    if (day > night - RECENT_DAYS || ['failed', 'pending', 'expired', 'awaiting'].includes(state)) return [];
    const isTrue = text === published.storedTruth(stream, day);
    if ((isSettled && isTrue) || isNamed(unit) || confirmed.includes(dateOf(day))) return [];
    return unit.confirmed === 'age'
      ? []
      : [`I2: ${stream} ${dateOf(day)} (${state}) waits or is not true, and no open state names it`];
  });
}

/** States of which nothing that was stored or shown is a reason. */
function invented(open: readonly Open[], { stored, published }: Seen): string[] {
  const units = stored?.units ?? [];
  const within = ({ first, last }: Open) =>
    units.filter(({ day }) => first !== null && last !== null && first <= day && day <= last);
  const differs = ({ stream, day, text }: StoredUnit) =>
    published.wasOdd(stream, day) || published.textsOf(stream, day).some((shown) => shown !== text);
  const reasons: Readonly<Record<string, (unit: StoredUnit) => boolean>> = {
    'seen-otherwise': differs,
    unstable: ({ stream, day }) => published.wasOdd(stream, day) || published.textsOf(stream, day).length > 1,
    'first-looks': ({ isSettled }) => !isSettled,
    'figures-disagree': ({ day }) => mayDisagree(published.textsOf.bind(published), day),
    mass: differs,
    flapping: differs,
    'never-active': ({ text }) => text === '',
  };
  return open.flatMap((state) => {
    const isReason = reasons[state.state];
    if (isReason === undefined || state.first === null) return [];
    const own = within(state);
    if (state.count > own.length)
      return [`I2: status names ${state.count} units as ${state.state}, on days that have ${own.length}`];
    return own.some(isReason) ? [] : [`I2: status has ${state.state} open, and nothing is a reason for it`];
  });
}

/** True if some users that were shown of a day do not add up to some numbers that other streams have shown. */
function mayDisagree(textsOf: (stream: StoredUnit['stream'], day: number) => readonly string[], day: number) {
  const sums = textsOf('users', day).map((text) => {
    const rows = text === '' ? [] : text.split(', ').map((row) => row.split(' ').slice(1).map(Number));
    const sum = (word: number) => rows.reduce((total, row) => total + (row[word] ?? 0), 0);
    return {
      ...{ users: '', tokens: `${sum(3)}`, tools: `${sum(1)}`, productivity: `${sum(2)}` },
      activity: `${rows.length} ${sum(0)}`,
    };
  });
  return STREAMS.some(
    (stream) =>
      stream !== 'users' &&
      textsOf(stream, day).some((text) => {
        const words = text.split(' ');
        const own = stream === 'activity' ? `${words[0] || 0} ${words[2] ?? 0}` : `${words[0] || 0}`;
        return sums.some((sum) => sum[stream] !== own);
      }),
  );
}
