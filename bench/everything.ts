import { createWriteStream, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, ratio, time } from './support/measure.ts';
import { ALL_OF_60_DAYS } from './support/pages.ts';
import { runProcess } from './support/process.ts';

/** All streams over HTTP, compared with a well-known tool that only inserts users from a file. */
export const everything: Benchmark = {
  number: 5,
  title: 'First sync of everything ÷ `sqlite-utils insert` of only the users, from disk',
  async run(bench) {
    if (!(await isInstalled()))
      return { skipped: 'sqlite-utils is not installed (apt-get install sqlite-utils)' };
    const { service, folder } = await bench.userPages();
    const users = bench.path('users.ndjson');
    await writeUsers(folder, users);
    // A first run fills the cache of the service.
    await runExport(service, bench.path('daywalk.db'), ALL_OF_60_DAYS);
    const insert = (path: string) => [
      'insert',
      path,
      'users',
      users,
      '--nl',
      '--pk',
      'date',
      '--pk',
      'user_id',
    ];
    const lanes = await inTurns(bench.rounds, {
      daywalk: async () => time(await runExport(service, bench.path('daywalk.db'), ALL_OF_60_DAYS)),
      'sqlite-utils': async () => time(await runProcess('sqlite-utils', insert(bench.path('users.db')))),
    });
    rmSync(users);
    return { measures: [ratio(lanes, ['daywalk', 'sqlite-utils'], { limit: 0.4 })] };
  },
};

async function isInstalled(): Promise<boolean> {
  return runProcess('sqlite-utils', ['--version']).then(
    () => true,
    () => false,
  );
}

/** Writes the users of the pages, one per line. */
async function writeUsers(folder: string, path: string): Promise<void> {
  const out = createWriteStream(path);
  for (const name of (await readdir(folder)).toSorted()) {
    const { data }: { data: unknown[] } = JSON.parse(await readFile(join(folder, name), 'utf8'));
    out.write(data.map((user) => `${JSON.stringify(user)}\n`).join(''));
  }
  out.end();
  await finished(out);
}
