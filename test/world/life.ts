import { People } from './acts.ts';
import { ACTS, type Event, type Kind, type World } from './events.ts';
import { type Blow, Machine, type Outcome } from './machine.ts';
import { BUSY_NIGHTS, examineEnd, examineNight, type Fault, type Seen } from './oracle.ts';
import { POSTGRES_EVERY, postgresPlace } from './postgres.ts';
import { openWorldService, type WorldService } from './service.ts';
import type { Stored } from './stored.ts';
import { examineSurfaces } from './surfaces.ts';
import { dateOf, type Night, truthOf } from './truth.ts';
import { compareUndisturbed, isOfServiceAlone } from './undisturbed.ts';

/** What became of a world. */
export interface Lived {
  /** Null if all promises held. */
  readonly fault: Fault | null;
  readonly nights: number;
}

/** How a night ended, for whoever looks at one world. */
export interface NightReport {
  readonly night: Night;
  readonly outcome: Outcome;
  readonly requests: number;
}

/** Commands and metrics are compared in one of so many nights, because that takes as long as the night. */
const SURFACES_EVERY = 8;

/** One of so many worlds lives up to its last night. */
const LONG_EVERY = 4;

/** The worlds among {@link POSTGRES_EVERY} in PostgreSQL. */
const POSTGRES_TURN = 7;

/** One of so many worlds is exported once more at its end, which takes as long as three nights. */
const UNDISTURBED_EVERY = 4;

/** Lives a world, night by night, up to the first promise that does not hold. */
export async function live(
  world: World,
  observe: (night: NightReport) => void = () => undefined,
): Promise<Lived> {
  const service = openWorldService(world);
  const place = world.seed % POSTGRES_EVERY === POSTGRES_TURN ? await postgresPlace() : null;
  // Without a server, the world lives in a file.
  const machine = new Machine(service, isArchived(world), typeof place === 'string' ? null : place);
  try {
    // Some worlds begin without a warehouse, so that its making is disturbed too.
    if (world.seed % 5 !== 0) await machine.prepare();
    else await machine.place?.drop();
    return await liveOn(machine, world, service, observe);
  } finally {
    machine.remove();
  }
}

/** Half of the worlds have an archive, on either database. */
function isArchived({ seed }: World): boolean {
  return (seed + Math.floor(seed / POSTGRES_EVERY)) % 2 === 0;
}

async function liveOn(
  machine: Machine,
  world: World,
  service: WorldService,
  observe: (night: NightReport) => void,
): Promise<Lived> {
  let [nights, isKnown] = [0, false];
  let [before, latest]: [Stored | null, Stored | null] = [null, null];
  const people = new People(machine, service.published);
  for (let night = truthOf(world.seed).firstNight; night <= world.lastNight; night += 1) {
    // Most worlds end as soon as all is settled and true; the others show that nothing happens after it.
    const mayEnd = night >= world.quietFrom + BUSY_NIGHTS && world.seed % LONG_EVERY !== 0;
    let isEnd = night === world.lastNight;
    const events = world.events.filter(({ from, until }) => from <= night && night <= until);
    for (const [turn, hour] of hoursOf(events).entries()) {
      nights += 1;
      service.begin(night, isKnown);
      const now = turn === 0 ? events : withoutBlows(events);
      const outcome = await performRun(machine, { world, night, hour, events: now });
      observe({ night, outcome, requests: service.requests });
      const stored = await machine.stored();
      latest = stored;
      isKnown ||= stored?.units.some(({ isSettled }) => isSettled) === true;
      const seen = {
        world,
        published: service.published,
        night,
        stored,
        before,
        outcome,
        failed: service.failed,
        requests: service.requests,
      };
      isEnd ||= mayEnd && examineEnd(seen).length === 0 && (await isAllSaid(machine, seen));
      const [fault = null] = [
        ...examineNight(seen),
        ...(isEnd ? examineEnd(seen) : []),
        ...(isEnd || (world.seed + night) % SURFACES_EVERY === 0
          ? await examineSurfaces(machine, seen, isEnd)
          : []),
      ];
      if (fault !== null) return { fault, nights };
    }
    // What people do may change all of it.
    before = events.some(({ kind }) => ACTS.some((act) => act === kind)) ? null : latest;
    const [broken] = await people.act(night, events);
    if (broken !== undefined)
      return { fault: { invariant: broken.slice(0, 2), night, text: broken }, nights };
    if (!isEnd) continue;
    // What is in PostgreSQL is always compared with what an undisturbed export stores in a file.
    const isTurn = machine.place !== null || world.seed % UNDISTURBED_EVERY === 1;
    const isCompared = isTurn && isOfServiceAlone(world);
    const ended = { ...world, lastNight: night };
    const [differs = null] = isCompared ? await compareUndisturbed(machine, service, ended) : [];
    return { fault: differs, nights };
  }
  throw new Error(`world ${world.seed} has no last night`);
}

/** True if nothing that a morning says keeps a world from ending. */
async function isAllSaid(machine: Machine, seen: Seen): Promise<boolean> {
  return (await examineSurfaces(machine, seen, true)).length === 0;
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

function hoursOff(salt: number | undefined): number {
  return salt === undefined ? 0 : ([2, 12, 24, 40 * 24][salt % 4] ?? 0);
}
