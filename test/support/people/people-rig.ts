import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { daywalkInProcess, type EndedHere } from '../process/daywalk-in-process.ts';
import { exportedRig, settledRig } from '../rig/exported-rig.ts';
import type { Rig } from '../rig/rig.ts';
import { tempDir } from '../suite/temp-dir.ts';
import type { Database } from '../warehouse/each-database.ts';

/** A user of the warehouse. */
export interface RigUser {
  readonly id: string;
  /** '' without one. */
  readonly email: string;
}

/** A filled warehouse with commands about its people. */
export interface PeopleRig extends Rig {
  /** The users, in the order of their IDs. */
  readonly users: readonly RigUser[];
  /** Runs `daywalk people …` on the warehouse, in a folder for its files. */
  people(command: string, env?: Readonly<Record<string, string>>): Promise<EndedHere>;
  /** Loads a file of these lines as people.csv, with `--json`. */
  load(lines: readonly string[], env?: Readonly<Record<string, string>>): Promise<EndedHere>;
  /** Writes a file into the folder. */
  write(name: string, text: string): void;
  /** What a load writes, and rollups of it: to see that nothing was stored. */
  stored(): Promise<unknown>;
}

/** Creates a small organization whose first days are exported; in three nights, if they are to be settled. */
export async function createPeopleRig(
  database: Database,
  { settled = false, ...options }: Partial<EmulatorOptions> & { readonly settled?: boolean } = {},
): Promise<PeopleRig> {
  const create = settled ? settledRig : exportedRig;
  const rig = await create({ users: 12, reports: 0, today: '2026-01-24', ...options }, { database });
  const folder = tempDir();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const people = (command: string, env: Readonly<Record<string, string>> = {}) =>
    daywalkInProcess(['people', ...command.split(' ')], {
      env: { DAYWALK_WAREHOUSE: rig.path, ...env },
      cwd: folder,
    });
  return {
    ...rig,
    users: await rig.sql<{ id: string; email: string }>(
      "SELECT user_id AS id, COALESCE(user_email, '') AS email FROM users ORDER BY user_id",
    ),
    write,
    people,
    load: (lines, env) => {
      write('people.csv', lines.map((line) => `${line}\n`).join(''));
      return people('load people.csv --json', env);
    },
    stored: async () => ({
      people: await rig.sql('SELECT * FROM people ORDER BY person, valid_from'),
      teams: await rig.sql('SELECT * FROM user_teams ORDER BY user_id, valid_from'),
      users: await rig.sql('SELECT user_id, team FROM users ORDER BY user_id'),
      marks: await rig.sql("SELECT * FROM rollup_marks WHERE rollup = 'users' ORDER BY date"),
    }),
  };
}

/** The user at a place of the list. */
export function userAt({ users }: Pick<PeopleRig, 'users'>, index: number): RigUser {
  const user = users[index];
  if (user === undefined) throw new Error(`the rig has only ${users.length} users`);
  return user;
}
