import { join } from 'node:path';
import { Beside, besideOf, hasBeside } from './beside.ts';
import { fieldOf, jsonOf } from './command.ts';
import type { World } from './events.ts';
import { Machine } from './machine.ts';
import type { Fault } from './oracle.ts';
import type { WorldService } from './service.ts';
import { replayCode } from './stored.ts';
import { dateOf } from './truth.ts';

/** Nights after which an export that nothing disturbs has settled. */
const NIGHTS = 3;

/** True if the content of a warehouse follows from the service alone: nobody was erased, and no policy was applied. */
export function isOfServiceAlone({ events }: World): boolean {
  return !events.some(({ kind }) => kind === 'erase' || kind === 'policy' || kind === 'retain');
}

/**
 * I3: after the last night, every table with data of the service has the digest that it has in a warehouse which was
 * filled in honest nights alone. Unlike the oracle's own texts, this covers every column.
 */
export async function compareUndisturbed(
  machine: Machine,
  service: WorldService,
  world: World,
): Promise<Fault[]> {
  const other = new Machine(service, { hasArchive: false, other: besideOf(world.seed) });
  try {
    await other.prepare();
    const beside = hasBeside(world.seed) ? new Beside(other, service.published, world.seed) : null;
    for (let night = world.lastNight - NIGHTS + 1; night <= world.lastNight; night += 1) {
      service.begin(night, true);
      const [broken] = (await beside?.run(night)) ?? [];
      if (broken !== undefined) return [faultOf(world, broken)];
      const { exitCode, error } = await other.run(`${dateOf(night)}T03:00:00Z`, world.seed);
      if (exitCode !== 0)
        return [faultOf(world, `an undisturbed export ended with ${exitCode}, ${String(error)}`)];
    }
    const [own, undisturbed] = [await tablesOf(machine, world), await tablesOf(other, world)];
    return [...undisturbed].flatMap(([table, digest]) =>
      own.get(table) === digest ? [] : [faultOf(world, `${table} is not as in an undisturbed export`)],
    );
  } finally {
    other.remove();
  }
}

/** True if the archive has what the warehouse has: it was there from the beginning, and nothing was put back or lost. */
export function isInArchive({ events }: World): boolean {
  return !events.some(({ kind }) => kind === 'restore' || kind === 'lost-volume');
}

/** I6: after the last night, a replay of the archive has the tables of the service that the warehouse has. */
export async function compareReplayed(machine: Machine, world: World): Promise<Fault[]> {
  if (machine.env['DAYWALK_ARCHIVE'] === undefined) return [];
  const place = join(machine.folder, 'rebuilt.db');
  const at = `${dateOf(world.lastNight)}T09:00:00Z`;
  const { code, stderr } = await machine.command(['replay', '--warehouse', place], at);
  if (code !== replayCode(place))
    return [{ ...faultOf(world, `a replay ended with ${code}: ${stderr}`), invariant: 'I6' }];
  const [own, replayed] = [await tablesOf(machine, world), await tablesOf(machine, world, place)];
  return [...replayed].flatMap(([table, digest]) =>
    own.get(table) === digest
      ? []
      : [{ ...faultOf(world, `${table} is not as a replay has it`), invariant: 'I6' }],
  );
}

async function tablesOf(
  machine: Machine,
  { lastNight }: World,
  place = machine.warehouse,
): Promise<ReadonlyMap<string, unknown>> {
  const args = ['digest', '--json', '--warehouse', place];
  const printed = jsonOf(await machine.command(args, `${dateOf(lastNight)}T09:00:00Z`));
  const tables = new Map(Object.entries(fieldOf(printed, 'tables') ?? {}));
  // They come from the client tool, and not from the service.
  tables.delete('hook_events');
  return tables;
}

function faultOf({ lastNight }: World, text: string): Fault {
  return { invariant: 'I3', night: lastNight, text };
}
