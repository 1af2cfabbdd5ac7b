import { fieldOf, jsonOf } from './command.ts';
import type { World } from './events.ts';
import { Machine } from './machine.ts';
import type { Fault } from './oracle.ts';
import type { WorldService } from './service.ts';
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
  const other = new Machine(service, false);
  try {
    await other.prepare();
    for (let night = world.lastNight - NIGHTS + 1; night <= world.lastNight; night += 1) {
      service.begin(night, true);
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

async function tablesOf(machine: Machine, { lastNight }: World): Promise<ReadonlyMap<string, unknown>> {
  const printed = jsonOf(await machine.command(['digest', '--json'], `${dateOf(lastNight)}T09:00:00Z`));
  const tables = new Map(Object.entries(fieldOf(printed, 'tables') ?? {}));
  // They come from the client tool, and not from the service.
  tables.delete('hook_events');
  return tables;
}

function faultOf({ lastNight }: World, text: string): Fault {
  return { invariant: 'I3', night: lastNight, text };
}
