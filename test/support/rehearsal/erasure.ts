import { isServer } from '../chaos/run-and-kill.ts';
import { pick, type Random } from '../random/seed.ts';
import type { Place } from '../warehouse/each-database.ts';
import { type Command, undisturbed } from './program.ts';
import type { Name } from './scenes.ts';

/** The first kill of an erasure comes at this step; each later one comes half as many steps later again. */
const FIRST_STEP = 4;
const GROWTH = 1.5;
/** Kills of one erasure at most. */
const KILLS_MAX = 40;
/** The name under which a warehouse keeps the keys of its pseudonyms. */
const KEYS = 'erased-keys';

/** A person, and where this person is. */
export interface Person {
  readonly organization: Name;
  readonly user: string;
  readonly emails: readonly string[];
}

/** Chooses somebody with an email address in the warehouse. */
export async function somebodyOf(
  { place, orgId, organization }: { place: Place; orgId: string; organization: Name },
  random: Random,
): Promise<Person> {
  const found = await place.query<{ user: string; email: string }>(
    'SELECT DISTINCT user_id AS "user", user_email AS email FROM user_daily WHERE org_id = ? AND user_email IS NOT NULL ORDER BY 1, 2',
    orgId,
  );
  const [first, ...others] = found;
  if (first === undefined) throw new Error(`${organization} has nobody with an email address`);
  const { user } = pick(random, [first, ...others]);
  return {
    organization,
    user,
    emails: found.flatMap((one) => (one.user === user ? [one.email] : [])),
  };
}

/** The command line that erases a person. */
export function erasing({ user, organization }: Person): string[] {
  return ['erase', '--user', user, '--organization', organization, '--json', '--wait'];
}

/**
 * Erases a person with a command that is killed at later and later steps, until it reaches its end.
 * @returns the number of kills.
 */
export async function eraseThroughKills(command: Command, random: Random): Promise<number> {
  const own = isServer(command.env['DAYWALK_WAREHOUSE'] ?? '') ? 'socket' : 'statement';
  let step = FIRST_STEP;
  for (let kills = 0; kills <= KILLS_MAX; kills += 1) {
    const env = { ...command.env, KILL_KIND: pick(random, [own, 'file']), KILL_AT: `${step}` };
    const { signal, code, stderr } = await undisturbed({ ...command, env });
    if (signal !== 'SIGKILL') {
      // A kill between the last step and the end of the process leaves nothing to do.
      if (code === 0 || stderr.includes('has nothing of this person')) return kills;
      throw new Error(`the erasure ended with ${code}: ${stderr}`);
    }
    step = Math.ceil(step * GROWTH);
  }
  throw new Error(`the erasure was killed ${KILLS_MAX} times, and did not end`);
}

/** Gives a new warehouse the keys of another one, so that an erasure gives the same pseudonyms there. */
export async function shareErasureKeys(from: Place, to: Place): Promise<void> {
  const [row] = await from.query<{ value: string }>(
    "SELECT value FROM export_state WHERE org_id = '' AND name = ?",
    KEYS,
  );
  if (row === undefined) throw new Error('nobody was erased');
  await to.execute("INSERT INTO export_state (org_id, name, value) VALUES ('', ?, ?)", KEYS, row.value);
}
