import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { daywalkInProcess, type EndedHere } from '../process/daywalk-in-process.ts';
import { CANARY_KEY } from '../rig/canary-key.ts';
import { tempDir } from '../suite/temp-dir.ts';
import type { Database, Place } from '../warehouse/each-database.ts';

/** The day of the rig's services and commands, which start at 03:00 UTC. */
export const NOW = '2026-01-24T03:00:00Z';

/** An entry of the organizations file. */
export interface Entry {
  readonly name: string;
  readonly apiKeyFile: string;
  readonly [field: string]: unknown;
}

/** The part of a round's JSON document that tests read. */
export interface ShownRound {
  readonly exitCode: number;
  readonly organizations: readonly {
    readonly name: string;
    readonly orgId: string | null;
    readonly exitCode: number;
    readonly report: { readonly requests: number; readonly rowsWritten: number } | null;
    readonly error: { readonly message: string; readonly hint: string } | null;
  }[];
}

/** Several emulated organizations, each with its own service and key, and one warehouse for all. */
export interface OrganizationsRig {
  readonly emulators: readonly Emulator[];
  readonly folder: string;
  /** The organizations file. */
  readonly file: string;
  readonly place: Place;
  /** The entries of all organizations; entry i belongs to emulator i. */
  readonly entries: readonly Entry[];
  /** Writes the organizations file. */
  list(entries: readonly Entry[]): void;
  /** Writes a key file. */
  writeKey(file: string, key: string): void;
  /** Runs a command line with the organizations file. */
  daywalk(args: string, env?: Readonly<Record<string, string>>): Promise<EndedHere>;
  /** Runs `daywalk run --json`, with more flags if given. */
  run(
    flags?: string,
    env?: Readonly<Record<string, string>>,
  ): Promise<ShownRound & { readonly code: number }>;
  /** All that a refused name must not change: names, ledger, and the number of rows of facts. */
  stored(): Promise<unknown>;
}

/** Creates a rig with one organization for each name. */
export async function createOrganizationsRig(
  names: readonly string[],
  database: Database,
  options: Partial<EmulatorOptions> = {},
): Promise<OrganizationsRig> {
  const folder = tempDir();
  const place = database.place();
  const file = join(folder, 'organizations.json');
  const emulators: Emulator[] = [];
  for (const index of names.keys()) emulators.push(await startOne(index, options));
  const writeKey = (name: string, key: string) => writeFileSync(join(folder, name), key, { mode: 0o600 });
  const list = (entries: readonly Entry[]) => writeFileSync(file, JSON.stringify(entries));
  const entries = names.map((name, index) => ({
    name,
    apiKeyFile: `${index}.key`,
    baseUrl: emulators[index]?.url,
  }));
  for (const [index, { apiKey }] of emulators.entries()) writeKey(`${index}.key`, apiKey);
  list(entries);
  const daywalk: OrganizationsRig['daywalk'] = (args, env = {}) =>
    daywalkInProcess(args.split(' '), {
      cwd: folder,
      env: {
        DAYWALK_ORGANIZATIONS: file,
        DAYWALK_WAREHOUSE: place.location,
        DAYWALK_NOW: NOW,
        DAYWALK_ATTEMPTS: '1',
        DAYWALK_PATIENCE: '0',
        ...env,
      },
    });
  return {
    ...{ emulators, folder, file, place, entries, list, writeKey, daywalk },
    run: async (flags = '', env) => {
      const { stdout, stderr, code } = await daywalk(`run --json ${flags}`.trim(), env);
      if (stdout === '') throw new Error(`nothing was printed: ${stderr}`);
      return { ...(JSON.parse(stdout) as ShownRound), code };
    },
    stored: async () => ({
      names: await place.query('SELECT * FROM organizations ORDER BY name'),
      ledger: await place.query('SELECT * FROM export_units ORDER BY org_id, stream, date'),
      facts: await place.query('SELECT org_id, date, tool_calls FROM user_daily ORDER BY 1, 2, user_id'),
    }),
  };
}

async function startOne(index: number, options: Partial<EmulatorOptions>): Promise<Emulator> {
  const emulator = await startEmulator({
    realistic: true,
    users: 4 + index,
    reports: 2,
    seed: index + 1,
    today: NOW.slice(0, 10),
    apiKey: `${CANARY_KEY}-${index}`,
    ...options,
  });
  onTestFinished(() => emulator.close());
  return emulator;
}
