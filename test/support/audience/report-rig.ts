import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPeopleRig, type PeopleRig } from '../people/people-rig.ts';
import { daywalkInProcess, type EndedHere } from '../process/daywalk-in-process.ts';
import { tempDir } from '../suite/temp-dir.ts';
import type { Database } from '../warehouse/each-database.ts';

/** The teams of the people, with the number of each; the rest has none. */
const TEAMS: readonly (readonly [team: string, people: number])[] = [
  ['core', 16],
  ['../etc', 12],
  ['con', 10],
  ['tiny', 2],
];

/** The fewest people about whom a number is published. */
export const MIN_GROUP = 3;

/** A filled warehouse with named people in teams, published weeks, and reports of it. */
export interface ReportRig extends PeopleRig {
  /** The folder of its reports. */
  readonly folder: string;
  /** Runs `daywalk report …`. */
  report(...flags: string[]): Promise<EndedHere>;
  /** The text of a file in the folder. */
  read(name: string): string;
}

/** @param withTeams false to leave out the run that publishes the teams. */
export async function createReportRig(database: Database, withTeams = true): Promise<ReportRig> {
  const rig = await createPeopleRig(database, {
    settled: true,
    ...{ users: 90, reports: 4, today: '2026-02-24' },
  });
  const folder = tempDir();
  let next = 0;
  const lines = TEAMS.flatMap(([team, people]) =>
    Array.from({ length: people }, () => {
      next += 1;
      return `${rig.users[next - 1]?.id ?? ''},${team},Person Number${next} O'Neil`;
    }),
  );
  const loaded = await rig.load(['user_id,team,name', ...lines]);
  if (loaded.code !== 0) throw new Error(`the people of the rig were refused: ${loaded.stderr}`);
  // Its weeks were published without teams, which this run adds.
  if (withTeams) await rig.run({ settings: { minGroup: MIN_GROUP } });
  return {
    ...rig,
    folder,
    report: (...flags) =>
      daywalkInProcess(['report', ...flags], {
        env: {
          DAYWALK_WAREHOUSE: rig.path,
          DAYWALK_NOW: '2026-02-24T03:00:00Z',
          DAYWALK_MIN_GROUP: String(MIN_GROUP),
        },
        cwd: folder,
      }),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
  };
}
