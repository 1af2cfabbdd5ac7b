import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { daywalk, envOf } from '../process/daywalk-process.ts';
import { createRig } from '../rig/rig.ts';
import { tempDir } from '../suite/temp-dir.ts';
import type { Database, Place } from '../warehouse/each-database.ts';
import { expectAllRollups, expectCurrentRollups } from './current-rollups.ts';
import type { Subject } from './run-and-kill.ts';

/** The tables that loads write, and what is computed from them. */
const TABLES = ['people', 'prices', 'budgets', 'user_teams', 'users', 'rollup_marks'];

/** A load that a test kills repeatedly, each time over the same earlier load. */
export interface LoadScene extends Subject {
  readonly command: readonly string[];
  /** Loads the earlier file again. */
  reset(): Promise<void>;
  /** Asserts that the warehouse is as before or as after the load, maybe with days of teams to compute. Returns true if it is as after. */
  isDone(): Promise<boolean>;
  /** Loads the later file undisturbed, and asserts that the warehouse is as after the load. */
  finish(): Promise<void>;
}

/** The lines of two files, the second of which replaces the first, for these users. */
export type Files = (users: readonly string[]) => { readonly before: string[]; readonly after: string[] };

/** Prepares a load over a small warehouse. */
export async function loadScene(
  database: Database,
  command: readonly [string, string],
  files: Files,
): Promise<LoadScene> {
  const rig = await createRig({ users: 8, reports: 0, today: '2026-01-20' }, { database });
  expect((await rig.run()).report.exitCode).toBe(0);
  const users = await rig.column('SELECT user_id FROM users ORDER BY user_id');
  const folder = tempDir();
  const contents = files(users);
  const [before, after] = [join(folder, 'before.csv'), join(folder, 'after.csv')];
  writeFileSync(before, contents.before.join('\n'));
  writeFileSync(after, contents.after.join('\n'));
  const env = envOf(rig, { DAYWALK_NOW: `${rig.today}T03:00:00Z` });
  const load = async (file: string) => {
    const { code, stderr } = await daywalk([...command, file], { env });
    expect(code, stderr).toBe(0);
    await expectAllRollups(rig.place);
    return contentOf(rig.place);
  };
  const states = [await load(before), await load(after)];
  expect(states[0]).not.toEqual(states[1]);
  return {
    path: rig.path,
    env,
    exitCode: 0,
    command: [...command, after],
    reset: async () => expect(await load(before)).toEqual(states[0]),
    isDone: async () => {
      const content = withoutTeamDays(await contentOf(rig.place));
      const [earlier, later] = states.map(withoutTeamDays);
      expect([earlier, later]).toContainEqual(content);
      await expectCurrentRollups(rig.place);
      return JSON.stringify(content) === JSON.stringify(later);
    },
    finish: async () => expect(await load(after)).toEqual(states[1]),
  };
}

type Content = Readonly<Record<string, readonly string[]>>;

/** Without the marks of the days of teams, which are computed after the load in transactions of their own. */
function withoutTeamDays(content: Content): Content {
  const marks = content['rollup_marks']?.filter((row) => !/"rollup":"(?:teams|models)"/.test(row)) ?? [];
  return { ...content, rollup_marks: marks };
}

/** All rows of the tables, in an order of their own. */
async function contentOf(place: Place): Promise<Content> {
  const tables: Record<string, readonly string[]> = {};
  for (const table of TABLES) {
    const rows = await place.query(`SELECT * FROM ${table}`);
    tables[table] = rows.map((row) => JSON.stringify(row)).toSorted();
  }
  return tables;
}
