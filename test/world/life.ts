import { People } from './acts.ts';
import { type Alarms, afterNight, NO_ALARMS } from './alarms.ts';
import { Beside, besideOf, hasBeside } from './beside.ts';
import { Costs } from './costs.ts';
import { ACTS, type Event, type Kind, type World } from './events.ts';
import { examineHealing } from './healing.ts';
import { Leaks } from './leaks.ts';
import { type Blow, Machine, type Outcome } from './machine.ts';
import { Notices } from './notices.ts';
import { BUSY_NIGHTS, examineEnd, examineNight, type Fault, type Seen } from './oracle.ts';
import { POSTGRES_EVERY, postgresPlace } from './postgres.ts';
import { openWorldService, type WorldService } from './service.ts';
import type { Stored } from './stored.ts';
import { examineSurfaces, isTurn, SELDOM, type Turns } from './surfaces.ts';
import { dateOf, type Night, truthOf } from './truth.ts';
import { compareReplayed, compareUndisturbed, isInArchive, isOfServiceAlone } from './undisturbed.ts';

/** Half of all organizations have an archive, and half of those with a long history, whose seeds are odd. */
const hasArchive = (seed: number) => seed % 2 === 0 || seed % 32 === 15;

/** What became of a world. */
export interface Lived {
  /** Null if all promises held. */
  readonly fault: Fault | null;
  readonly nights: number;
  readonly honest: Alarms;
}

/** How a night ended, for whoever looks at one world. */
export interface NightReport {
  readonly night: Night;
  readonly outcome: Outcome;
  readonly requests: number;
}

/** One of so many worlds lives up to its last night. */
const LONG_EVERY = 4;

/** The worlds among {@link POSTGRES_EVERY} in PostgreSQL. */
const POSTGRES_TURN = 7;

/** One of so many worlds is exported once more at its end, which takes as long as three nights. */
const UNDISTURBED_EVERY = 4;
/** One of so many worlds with an archive is rebuilt from it. */
const REPLAYED_EVERY = 8;

/** Lives a world, night by night, up to the first promise that does not hold. */
export async function live(
  world: World,
  observe: (night: NightReport) => void = () => undefined,
  turns: Turns = SELDOM,
): Promise<Lived> {
  const service = openWorldService(world);
  const place = world.seed % POSTGRES_EVERY === POSTGRES_TURN ? await postgresPlace() : null;
  // Without a server, the world lives in a file.
  const machine = new Machine(service, {
    hasArchive: hasArchive(world.seed),
    place: typeof place === 'string' ? null : place,
    other: besideOf(world.seed),
  });
  try {
    // Some worlds begin without a warehouse, so that its making is disturbed too.
    if (world.seed % 5 !== 0) await machine.prepare();
    else await machine.place?.drop();
    return await liveOn({ machine, service, turns }, world, observe);
  } finally {
    machine.remove();
  }
}

interface Place {
  readonly machine: Machine;
  readonly service: WorldService;
  readonly turns: Turns;
}

async function liveOn(
  { machine, service, turns }: Place,
  world: World,
  observe: (night: NightReport) => void,
): Promise<Lived> {
  let [nights, isKnown] = [0, false];
  let [honest, ended]: [Alarms, Outcome | null] = [NO_ALARMS, null];
  let [before, latest]: [Stored | null, Stored | null] = [null, null];
  const beside = hasBeside(world.seed) ? new Beside(machine, service.published, world.seed) : null;
  const people = new People(machine, service.published, beside !== null);
  const leaks = new Leaks(machine, service.published, beside?.emails);
  const costs = new Costs(machine.warehouse);
  const notices = new Notices();
  machine.onEvent = (event) => leaks.observe(event);
  for (let night = truthOf(world.seed).firstNight; night <= world.lastNight; night += 1) {
    // Most worlds end as soon as all is settled and true; the others show that nothing happens after it.
    const mayEnd = night >= world.quietFrom + BUSY_NIGHTS && world.seed % LONG_EVERY !== 0;
    let isEnd = night === world.lastNight;
    const events = world.events.filter(({ from, until }) => from <= night && night <= until);
    for (const [turn, hour] of hoursOf(events).entries()) {
      nights += 1;
      service.begin(night, isKnown);
      const [broken] = turn === 0 ? ((await beside?.run(night)) ?? []) : [];
      if (broken !== undefined) return { fault: faultOf(night, broken), nights, honest };
      const now = turn === 0 ? events : withoutBlows(events);
      leaks.receive(world.seed, night, 'before');
      costs.begin();
      const outcome = await performRun(machine, { world, night, hour, events: now });
      const cost = costs.end(night, night >= world.quietFrom);
      observe({ night, outcome, requests: service.requests });
      honest = afterNight(honest, world, { now: outcome, before: ended });
      ended = outcome;
      const stored = await machine.stored();
      latest = stored;
      isKnown ||= hasSettled(stored);
      const seen = {
        world,
        published: service.published,
        night,
        stored,
        before,
        outcome,
        ...{ failed: service.failed, refused: service.refused },
        requests: service.requests,
        ...{ hour, cost },
      };
      isEnd ||= mayEnd && examineEnd(seen).length === 0 && (await isAllSaid(machine, seen));
      const [fault = null] = [
        ...examineNight(seen),
        ...examineHealing(seen),
        // By a clock that is far behind, no day is asked for, and the run does not begin.
        ...leaks.examineRun(night, outcome.exitCode !== null && outcome.exitCode !== 2 && !outcome.isStruck),
        ...(isEnd ? examineEnd(seen) : []),
        ...(isEnd || isTurn(seen, turns.surfaces)
          ? await examineSurfaces(machine, seen, { isEnd, notices, turns })
          : []),
      ];
      if (fault !== null) return { fault, nights, honest };
    }
    // What people do may change all of it, also for the next nights without a run.
    if (events.some(({ kind }) => ACTS.some((act) => act === kind))) latest = null;
    before = latest;
    leaks.receive(world.seed, night, 'after');
    const isKilled = ended?.exitCode === null;
    const [broken] = [
      ...(await people.act(night, events, isKilled)),
      ...((await beside?.examine(night)) ?? []),
    ];
    if (broken !== undefined) return { fault: faultOf(night, broken), nights, honest };
    // Whoever answers first is believed again.
    if (events.some(({ kind }) => kind === 'lost-volume')) isKnown = hasSettled(await machine.stored());
    const [leaked] = leaks.examineMorning(night, events);
    if (leaked !== undefined) return { fault: leaked, nights, honest };
    if (!isEnd) continue;
    const [waits] = (await beside?.examineEnd(night)) ?? [];
    if (waits !== undefined) return { fault: faultOf(night, waits), nights, honest };
    // What is in PostgreSQL is always compared with what an undisturbed export stores in a file.
    const isDue = machine.place !== null || world.seed % UNDISTURBED_EVERY === 1;
    const isCompared = isDue && isOfServiceAlone(world);
    const last = { ...world, lastNight: night };
    const isReplayed = world.seed % REPLAYED_EVERY === 2 && isInArchive(world);
    const [differs = null] = [
      ...(isReplayed ? await compareReplayed(machine, last) : []),
      ...(isCompared ? await compareUndisturbed(machine, service, last) : []),
    ];
    return { fault: differs, nights, honest };
  }
  throw new Error(`world ${world.seed} has no last night`);
}

function faultOf(night: Night, text: string): Fault {
  return { invariant: text.slice(0, 2), night, text };
}

/** Other users are noticed once so many days have some, by docs/trust.md. */
const DAYS_WITH_USERS_MIN = 3;

/** True if something has settled, and other users would be noticed. */
function hasSettled(stored: Stored | null): boolean {
  const units = stored?.units ?? [];
  const days = units.filter(({ stream, text }) => stream === 'users' && text !== '');
  return days.length >= DAYS_WITH_USERS_MIN && units.some(({ isSettled }) => isSettled);
}

/** True if nothing that a morning says keeps a world from ending. */
async function isAllSaid(machine: Machine, seen: Seen): Promise<boolean> {
  return (await examineSurfaces(machine, seen, { isEnd: true, turns: SELDOM })).length === 0;
}

/** The hours of the runs of a night. */
function hoursOf(events: readonly Event[]): number[] {
  const happens = (...kinds: readonly Kind[]) => events.find(({ kind }) => kinds.includes(kind));
  if (happens('missed') !== undefined) return [];
  const killed = happens('killed', 'killed-in-request', 'disk-full');
  if (killed !== undefined && killed.salt % 2 === 0) return [3, 5];
  return happens('twice') === undefined ? [3] : [3, 16];
}

function withoutBlows(events: readonly Event[]): Event[] {
  return events.filter(
    ({ kind }) => kind !== 'killed' && kind !== 'killed-in-request' && kind !== 'disk-full',
  );
}

function performRun(
  machine: Machine,
  { world, night, hour, events }: { world: World; night: Night; hour: number; events: readonly Event[] },
): Promise<Outcome> {
  const saltOf = (kind: Kind) => events.find((event) => event.kind === kind)?.salt;
  const [write, request, full] = [saltOf('killed'), saltOf('killed-in-request'), saltOf('disk-full')];
  const few = saltOf('few-requests');
  const blow: Blow = {
    ...(write === undefined ? {} : { killAt: 1 + (write % 120) }),
    ...(request === undefined ? {} : { killAtRequest: 1 + (request % 18) }),
    ...(full === undefined ? {} : { fullAt: 1 + (full % 120) }),
  };
  const hours = hour + (hoursOff(saltOf('clock-ahead')) - hoursOff(saltOf('clock-behind')));
  const at = new Date(Date.parse(`${dateOf(night)}T00:00:00Z`) + hours * 3_600_000).toISOString();
  return machine.run(
    at,
    world.seed + night,
    {
      ...{ force: saltOf('force') !== undefined, acceptLoss: saltOf('accept-loss') !== undefined },
      requestsMax: few === undefined ? null : 1 + (few % 20),
    },
    blow,
  );
}

/** No whole day: two runs that began at the same instant have no order, and no promise says which of them is the last. */
function hoursOff(salt: number | undefined): number {
  return salt === undefined ? 0 : ([2, 12, 23, 40 * 24 - 1][salt % 4] ?? 0);
}
