import { expect } from 'vitest';
import { shiftDay, type UtcDay } from '../../../src/core/day.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { daywalkInProcess } from '../process/daywalk-in-process.ts';
import { createRig, type Rig, type RunRequest } from '../rig/rig.ts';
import type { Database } from '../warehouse/each-database.ts';
import { type Adversary, type Lie, startAdversary } from './adversary.ts';

/** Of older days, one light stretch is compared each night. */
export const FRUGAL = { watchRequests: 0 };

/** What `daywalk status --json` says of the organization. */
interface Status {
  readonly highest: string | null;
  /** The open states, the most urgent first. */
  readonly open: readonly {
    state: string;
    count: number;
    firstDay: string;
    lastDay: string;
    endsOn: string;
  }[];
  readonly neverConfirmed: readonly { streams: string[]; firstDay: string; identities?: string[] }[];
}

/** Nightly runs against a service that shares no code with the emulator. */
export interface AdversaryWorld {
  readonly rig: Rig;
  readonly service: Adversary;
  /** The exit code of a night; the first one is night 0. */
  night(number: number, settings?: Partial<Settings>, request?: RunRequest): Promise<number>;
  status(number: number): Promise<Status>;
}

/** A world before its first night. */
export async function adversaryWorld(
  database: Database,
  { first, users }: { readonly first: UtcDay; readonly users?: readonly string[] },
): Promise<AdversaryWorld> {
  const rig = await createRig({ users: 1, reports: 0 }, { database });
  const service = await startAdversary(first, users);
  const night = async (number: number, settings: Partial<Settings> = {}, request: RunRequest = {}) => {
    const now = shiftDay(first, number);
    service.lastDay = shiftDay(now, -1);
    const at = { baseUrl: service.url, appUrl: service.url };
    return (await rig.run({ ...request, now, settings: { ...at, ...settings } })).report.exitCode;
  };
  const status = async (number: number) => {
    const env = { DAYWALK_NOW: `${shiftDay(first, number)}T09:00:00Z` };
    const { stdout } = await daywalkInProcess(['status', '--json', '--warehouse', rig.path], { env });
    return JSON.parse(stdout).organizations[0];
  };
  return { rig, service, night, status };
}

/** A world whose history has settled in three nights, with a service that lied in them or did not. */
export async function settledWorld(
  database: Database,
  {
    lie = {},
    ...options
  }: { readonly first: UtcDay; readonly users?: readonly string[]; readonly lie?: Lie },
): Promise<AdversaryWorld> {
  const world = await adversaryWorld(database, options);
  world.service.lie = lie;
  for (const number of [0, 1, 2]) expect(await world.night(number, FRUGAL)).toBe(0);
  return world;
}
