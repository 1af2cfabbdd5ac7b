// @module-tag campaign/moves

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { daywalk, startDaywalk } from '../../support/process/daywalk-process.ts';
import { filesIn } from '../../support/publish/lake.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

/** Prints the peak of memory in KiB as the process ends. */
const PEAK = `data:text/javascript,process.on('exit',()=>process.stderr.write('peak '+process.resourceUsage().maxRSS))`;
const PEAK_MIB_MAX = 256;

describe('a month of many rows', () => {
  test('needs the memory of one row group; SIGTERM in the middle leaves no partial file', async () => {
    const warehouse = await openTemporary();
    for (let day = 1; day <= 28; day += 1) {
      const rows = Array.from({ length: 4_000 }, (_, n) => {
        const id = `user ${String(n).padStart(8, '0')}`;
        return [id, `${id}@example.com`, n, n / 7, 'm', 't', ...Array(13).fill(n * day), 'auto-low', null];
      });
      const languages = rows.map(([id]) => [id ?? null, 'typescript', null]);
      await commitDay(
        warehouse,
        commitOf({
          stream: 'users',
          day: `2026-02-${String(day).padStart(2, '0')}`,
          rows: { user_daily: rows, user_daily_languages: languages },
        }),
      );
    }
    const lake = join(tempDir(), 'lake');
    const options = ['--warehouse', warehouse.path, '--tables', 'user_daily', '--json'];
    for (const [format, folder] of [
      ['parquet', lake],
      ['delta', join(tempDir(), 'delta')],
    ] as const) {
      const { code, stderr, stdout } = await daywalk(['publish', `--${format}`, folder, ...options], {
        // The rows alone would take more.
        nodeArgs: ['--max-old-space-size=120', '--import', PEAK],
      });
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)[format].tables[0]).toMatchObject({ rows: 112_000, written: 1 });
      const peak = Number(/peak (\d+)$/.exec(stderr)?.[1]) / 1024;
      expect(peak, format).toBeGreaterThan(50);
      expect(peak, format).toBeLessThan(PEAK_MIB_MAX);
    }

    const before = filesIn(lake);
    const args = ['publish', '--warehouse', warehouse.path, '--parquet', lake, '--force'];
    const { child, ended } = startDaywalk([...args, '--tables', 'user_daily,user_daily_languages']);
    while (!existsSync(join(lake, '_daywalk.part'))) await delay(5);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143, signal: null, stdout: '' });
    expect(filesIn(lake)).toEqual(before);
    expect(readdirSync(lake).toSorted()).toEqual(['_daywalk.json', '_daywalk.lock', 'user_daily']);
  });
});
