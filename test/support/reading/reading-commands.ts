import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { daywalkInProcess, type EndedHere } from '../process/daywalk-in-process.ts';
import { envOf } from '../process/daywalk-process.ts';
import type { Rig } from '../rig/rig.ts';
import { tempDir } from '../suite/temp-dir.ts';

const PRICES = 'valid_from,currency,price_per_million\n2026-01-01,EUR,5\n';
const PEOPLE = 'user_email,team,valid_from\nada@example.com,core,2026-01-01\n';

/** Runs a command on the warehouse of a rig. */
export function command(rig: Rig, args: readonly string[]): Promise<EndedHere> {
  return daywalkInProcess(args, { env: envOf(rig, { DAYWALK_LOG: 'pretty' }), cwd: tempDir() });
}

/** Gives a warehouse what the commands of {@link readingCommands} need besides an export. */
export async function loadFiles(rig: Rig): Promise<void> {
  const folder = tempDir();
  for (const [kind, content] of Object.entries({ prices: PRICES, people: PEOPLE })) {
    const file = join(folder, `${kind}.csv`);
    writeFileSync(file, content);
    const { code, stderr } = await command(rig, [kind, 'load', file]);
    if (code !== 0) throw new Error(stderr);
  }
}

/** The command lines that only read, by name. Those that write files write them into a new folder. */
export function readingCommands(folder = tempDir()): Readonly<Record<string, readonly string[]>> {
  const people = join(folder, 'people.csv');
  writeFileSync(people, PEOPLE);
  const commands = [
    ['status'],
    ['status', '--health', '--max-age', '9000'],
    ['verify'],
    ['digest'],
    ['metric', 'billable_tokens', '--by', 'week'],
    ['metric', 'active_users', '--by', 'team', '--csv'],
    ['quarantine', 'list'],
    ['people', 'list'],
    ['people', 'missing'],
    ['people', 'load', people, '--dry-run'],
    ['prices', 'list'],
    ['budget', 'list'],
    ['report', '--out', join(folder, 'report.html')],
    ['focus', '--month', '2026-01', '--out', join(folder, 'focus.csv')],
    ['publish', '--sqlite', join(folder, 'published.db'), '--parquet', join(folder, 'lake')],
    ['copy', '--to', join(folder, 'copied.db')],
  ];
  return Object.fromEntries(
    commands.map((args) => [args.map((arg) => (arg.startsWith(folder) ? 'PATH' : arg)).join(' '), args]),
  );
}
