import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import type { Lies } from '../../../src/emulator/quirks.ts';
import { CANARY_KEY } from '../rig/canary-key.ts';
import { NEW_FIELD } from './next-version.ts';
import { type Plan, type Scene, scenesOf } from './plan.ts';
import { dayOfNight, LOST_NIGHTS, NAMES, type Name } from './scenes.ts';

/** Of so many users a restatement surely changes one. */
const USERS = 24;
const REPORTS = 4;
/** The share of the users with other numbers. If all changed, so many rows would disappear that the run doubts it. */
const RESTATED_SHARE = 0.4;

const REFUSED: Rule = { id: 'the key is revoked', action: { type: 'status', status: 401 } };
/** Every user has a field that this version does not know. */
const NEWER: Rule = {
  id: 'a newer field',
  match: { stream: 'users' },
  action: { type: 'patch', operations: [{ op: 'set', path: `/data/*/${NEW_FIELD}`, value: 3 }] },
};
const DOWN: Rule = { id: 'the service is down', action: { type: 'status', status: 503, retryAfter: 0 } };

/** The services of the organizations, which a plan changes from night to night. */
export interface Services {
  /** The organizations file. */
  readonly file: string;
  /** The ID of an organization. */
  orgIdOf(name: Name): string;
  /** Puts the services into their state of a night. Call it once for each, in order. */
  begin(night: number): void;
}

/** Starts a service for each organization, and lists them in a file. They close when the test ends. */
export async function startServices(folder: string, plan: Plan): Promise<Services> {
  const emulators = new Map<Name, Emulator>();
  for (const [index, name] of NAMES.entries()) {
    const emulator = await startEmulator({
      realistic: true,
      today: dayOfNight(1),
      seed: index + 1,
      users: USERS + index,
      // Every user is active every day, so that each scene has rows to change.
      steady: true,
      reports: REPORTS,
      apiKey: `${CANARY_KEY}-${index}`,
    });
    onTestFinished(() => emulator.close());
    emulators.set(name, emulator);
    writeFileSync(join(folder, `${name}.key`), emulator.apiKey, { mode: 0o600 });
  }
  const file = join(folder, 'organizations.json');
  const entries = [...emulators].map(([name, { url }]) => ({
    name,
    apiKeyFile: `${name}.key`,
    baseUrl: url,
  }));
  writeFileSync(file, JSON.stringify(entries));
  return {
    file,
    orgIdOf: (name) => emulators.get(name)?.orgId ?? '',
    begin: (night) => {
      for (const [name, emulator] of emulators) applyNight(emulator, night, scenesOf(plan, night, name));
    },
  };
}

function applyNight(emulator: Emulator, night: number, scenes: readonly Scene[]): void {
  emulator.setToday(dayOfNight(night));
  const isPlanned = (what: Scene['what']) => scenes.some((scene) => scene.what === what);
  emulator.setRules([
    ...(isPlanned('key revoked') ? [REFUSED] : []),
    ...(isPlanned('outage') ? [DOWN] : []),
    NEWER,
  ]);
  emulator.setQuirks({ lies: liesOf(scenes, night) });
  for (const { what, day, streams, night: first } of scenes) {
    const isRestated = what === 'restated young day' || what === 'restated settled day';
    if (isRestated && first === night && day !== null)
      emulator.revise({ kind: 'restate', day, streams, share: RESTATED_SHARE });
  }
}

/** Days without rows: the batch is late, or they were lost. */
function liesOf(scenes: readonly Scene[], night: number): Lies {
  const late: Partial<Record<DailyStream, NonNullable<Scene['day']>[]>> = {};
  for (const { what, day, streams, night: first } of scenes) {
    const isLost = what === 'lost day' && night < first + LOST_NIGHTS;
    if (day === null || (what !== 'late day' && what !== 'late stream' && !isLost)) continue;
    for (const stream of DAILY_STREAMS.filter((one) => streams.includes(one)))
      late[stream] = [...(late[stream] ?? []), day];
  }
  return { lateDays: late };
}
