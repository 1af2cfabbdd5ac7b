import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveDashboard } from '../../../jobs/pages.ts';
import { parseDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { daywalkInProcess } from '../process/daywalk-in-process.ts';
import { CANARY_KEY } from '../rig/canary-key.ts';
import { contextOf, type Rig, rigOver, TODAY } from '../rig/rig.ts';
import type { Place } from '../warehouse/each-database.ts';
import { sqlitePlace } from '../warehouse/sqlite-place.ts';

/** A warehouse that is served to browsers. */
export interface DashboardRig {
  readonly rig: Rig;
  /** The address of the dashboard, without a slash at its end. */
  readonly url: string;
  /** Failures of pages that the dashboard reported. */
  readonly failures: readonly string[];
  close(): Promise<void>;
}

/** What the warehouse holds. */
export interface Contents {
  readonly service?: Partial<EmulatorOptions>;
  /** Teams, prices and budgets are loaded, too. */
  readonly isComplete?: boolean;
  /** By default a new SQLite file. */
  readonly place?: Place;
  /** Works on the warehouse before it is served; by default one run. */
  fill?(rig: Rig): Promise<void>;
  /** Works on it after that, for example to plant names. */
  change?(rig: Rig): Promise<void>;
}

/** Fills a warehouse and serves it. The caller closes it, because the tests of a file share it. */
export async function serveContents({
  service = {},
  isComplete = false,
  place,
  fill,
  change,
}: Contents = {}): Promise<DashboardRig> {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-browser-'));
  const today = parseDay(service.today ?? TODAY);
  const emulator = await startEmulator({
    realistic: true,
    users: 12,
    reports: 6,
    apiKey: CANARY_KEY,
    ...service,
    today,
  });
  try {
    const rig = rigOver(emulator, place ?? sqlitePlace(join(folder, 'daywalk.db')), today);
    await (fill ?? ((filled: Rig) => filled.run()))(rig);
    if (isComplete) await loadFiles(rig, folder);
    await change?.(rig);
    const served = await serve(rig);
    return {
      rig,
      ...served,
      close: async () => {
        await served.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } finally {
    await emulator.close();
  }
}

/** Serves the warehouse of a rig as `daywalk dashboard` does, on a free port. */
export async function serve(rig: Rig): Promise<Omit<DashboardRig, 'rig'>> {
  const end = new AbortController();
  const failures: string[] = [];
  const { clock } = contextOf(rig.today);
  const report = (error: unknown, path: string) => failures.push(`${path}: ${String(error)}`);
  const context = { clock, signal: end.signal, hintOf: () => undefined, report };
  let ended = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    ended = serveDashboard(rig.settings, { port: 0 }, context, resolve);
    ended.catch(reject);
  });
  return {
    url,
    failures,
    close: () => {
      end.abort();
      return ended;
    },
  };
}

/** Somebody with a licence and without activity. */
const IDLE = ',nobody@example.com,Platform,,2026-01-01,';

/** Half of the users in two teams, a price, and a budget of the present month. */
async function loadFiles(rig: Rig, folder: string): Promise<void> {
  const users = await rig.column('SELECT user_id FROM users ORDER BY user_id');
  const people = users.slice(0, Math.ceil(users.length / 2)).map((user, index) => {
    return `${user},,${index % 2 === 0 ? 'Platform' : 'Data & insight'},,2026-01-01,`;
  });
  const month = rig.today.slice(0, 7);
  const files = {
    people: ['user_id,user_email,team,cost_center,valid_from,valid_to', ...people, IDLE],
    prices: ['valid_from,valid_to,currency,price_per_million', '2026-01-01,,EUR,3.5'],
    budget: ['month,team,amount,currency', `${month},Platform,50,EUR`],
  };
  for (const [command, lines] of Object.entries(files)) {
    const file = join(folder, `${command}.csv`);
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    const { code, stderr } = await daywalkInProcess([command, 'load', file], {
      env: { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: `${rig.today}T03:00:00Z` },
    });
    if (code !== 0) throw new Error(`${command} load: ${stderr}`);
  }
}
