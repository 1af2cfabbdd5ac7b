import { type ReplayRequest, type ReplayResult, replay } from '../../../jobs/replay.ts';
import { readContents } from '../../../src/archive/answer-queries.ts';
import type { Contents } from '../../../src/archive/answers.ts';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import type { UtcDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { contextOf, createRig, type Ran, type Rig, type RunRequest, rigOver } from '../rig/rig.ts';
import { tempDir } from '../suite/temp-dir.ts';
import type { Database } from '../warehouse/each-database.ts';

/** A rig whose runs write an archive. */
export interface ArchivedRig extends Rig {
  readonly folder: string;
  /** Replays into a new, empty warehouse. */
  replayInto(request?: Partial<ReplayRequest>, settings?: Partial<Settings>): Promise<Replayed>;
  /** Replays into the warehouse of the rig. */
  replay(request?: Partial<ReplayRequest>, settings?: Partial<Settings>): Promise<ReplayResult>;
}

/** A warehouse after a replay. */
export interface Replayed {
  readonly rig: Rig;
  readonly result: ReplayResult;
}

/** Creates a rig whose runs write an archive. No replay of it can reach the service. */
export async function archivedRig(
  options: Partial<EmulatorOptions>,
  database: Database,
  changed: Partial<Settings> = {},
): Promise<ArchivedRig> {
  const rig = await createRig(options, { database });
  const folder = tempDir();
  const settings = { ...rig.settings, ...changed, archives: [folder] };
  const replayWith = (target: Settings, request: Partial<ReplayRequest>, more: Partial<Settings>) =>
    replay(
      // Without a key and a URL, there is no request.
      { ...target, ...changed, archives: [folder], apiKey: null, baseUrl: null, appUrl: null, ...more },
      { streams: STREAMS, wait: false, ...request },
      contextOf(rig.today),
    );
  return {
    ...rig,
    settings,
    folder,
    run: (request: RunRequest = {}): Promise<Ran> =>
      rig.run({
        clock: hastyClock(request.now ?? rig.today),
        ...request,
        settings: { ...changed, archives: [folder], ...request.settings },
      }),
    replay: (request = {}, more = {}) => replayWith(rig.settings, request, more),
    replayInto: async (request = {}, more = {}) => {
      const target = rigOver(rig.emulator, await database.migrated(), rig.today);
      return { rig: target, result: await replayWith(target.settings, request, more) };
    },
  };
}

/** What an archive knows. */
export function contentsOf(archive: string): Promise<Contents> {
  return withArchive(ArchiveFile.read(archive), readContents);
}

/** The archived answers about a unit, with what became of them: `believed committed`. */
export async function fatesOf(archive: string, stream: string, day: UtcDay): Promise<string[]> {
  const { answers } = await contentsOf(archive);
  return answers.flatMap((answer) =>
    answer.kind === 'day' && answer.unit === `${stream} ${day}`
      ? [`${answer.verdict} ${answer.outcome}`]
      : [],
  );
}

/** The machine's clock at 03:00 UTC of a day, on which no run waits for more answers than it has. */
export function hastyClock(now: UtcDay): Clock {
  const clock = systemClock(new Date(`${now}T03:00:00Z`));
  return { ...clock, sleep: (ms, signal) => clock.sleep(Math.min(ms, HASTE_MS), signal) };
}

const HASTE_MS = 2;
