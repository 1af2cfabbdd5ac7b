import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../src/core/errors.ts';
import { placesOf } from '../erase/search.ts';
import { tempDir } from '../suite/temp-dir.ts';
import { type Digests, digestsOf, replayedDigests, succeeds, undisturbedDigests } from './digests.ts';
import { expectedExits, expectedIncidents } from './expected.ts';
import { NEXT_VERSION } from './next-version.ts';
import { sceneOf } from './plan.ts';
import { receivedIncidents } from './received.ts';
import type { Rehearsed } from './rehearse.ts';
import { dayOfNight } from './scenes.ts';

/** What a rehearsal must show. Each finds what the plan does not contain, as lines. */
export const CHECKS = {
  'exit codes': exitFaults,
  incidents: incidentFaults,
  'an undisturbed export': (rehearsed) => digestFaults(rehearsed, undisturbedDigests),
  'a replay of the archive': (rehearsed) => digestFaults(rehearsed, replayedDigests),
  verify: ({ place, ...rehearsed }) =>
    nothing(succeeds({ place, ...rehearsed }, ['verify', '--json'], { DAYWALK_WAREHOUSE: place.location })),
  'archive verify': ({ archive, ...rehearsed }) =>
    nothing(
      succeeds({ archive, ...rehearsed }, ['archive', 'verify', '--json'], { DAYWALK_ARCHIVE: archive }),
    ),
  'the erasure': erasureFaults,
  'the upgrade': upgradeFaults,
} as const satisfies Record<string, (rehearsed: Rehearsed) => string[] | Promise<string[]>>;

/** The name of a check. */
export type Check = keyof typeof CHECKS;

/** The faults of a rehearsal, each after the name of its check; none if all went as planned. */
export async function faultsOf(rehearsed: Rehearsed): Promise<string[]> {
  const faults: string[] = [];
  for (const [name, find] of Object.entries(CHECKS)) {
    try {
      for (const fault of await find(rehearsed)) faults.push(`${name}: ${fault}`);
    } catch (error) {
      faults.push(`${name}: ${messageOf(error)}`);
    }
  }
  return faults;
}

function exitFaults({ plan, exits }: Rehearsed): string[] {
  const nights = Array.from({ length: plan.nights }, (_, index) => index + 1);
  return nights.flatMap((night) => {
    const [found, planned] = [exits[night - 1], expectedExits(plan, night)];
    return found === planned ? [] : [`night ${night} ended with ${found}, and ${planned} is planned`];
  });
}

function incidentFaults({ plan, messages }: Rehearsed): string[] {
  const [received, planned] = [receivedIncidents(messages), expectedIncidents(plan)];
  const beyond = (lines: readonly string[], others: readonly string[]) =>
    lines.filter((line, index) => !others.includes(line) || lines.indexOf(line) !== index);
  return [
    ...beyond(received, planned).map((line) => `not planned: ${line}`),
    ...beyond(planned, received).map((line) => `missing: ${line}`),
  ];
}

async function digestFaults(
  rehearsed: Rehearsed,
  others: (rehearsed: Rehearsed) => Promise<Digests>,
): Promise<string[]> {
  const [own, other] = [await digestsOf(rehearsed), await others(rehearsed)];
  if (isDeepStrictEqual(own, other)) return [];
  const tables = Object.keys({ ...own, ...other }).filter((name) => own[name] !== other[name]);
  return [`other digests of ${tables.join(', ')}`];
}

/** The erased person is nowhere, also not after the nights since then. */
async function erasureFaults({ place, archive, erased }: Rehearsed): Promise<string[]> {
  const found = await placesOf([erased.user, ...erased.emails], { place, archive, spool: tempDir() });
  return found.map((where) => `the erased person is in ${where}`);
}

/** Every run since the night of the upgrade is one of the newer version, and none before. */
async function upgradeFaults({ plan, place }: Rehearsed): Promise<string[]> {
  const runs = await place.query<{ started_at: string; versions: string }>(
    'SELECT started_at, versions FROM export_runs ORDER BY started_at',
  );
  const day = dayOfNight(sceneOf(plan, 'upgrade').night);
  const wrong = runs.filter(
    ({ started_at, versions }) => started_at.slice(0, 10) >= day !== versions.includes(NEXT_VERSION),
  );
  return wrong.map(({ started_at, versions }) => `the run of ${started_at} was one of ${versions}`);
}

async function nothing(work: Promise<unknown>): Promise<string[]> {
  await work;
  return [];
}
