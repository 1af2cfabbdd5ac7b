import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentsOf, objectsIn } from '../../../src/archive/contents.ts';
import { eraseFromArchive } from '../../../src/archive/erase-answers.ts';
import { withObjects } from '../../../src/archive/object-reader.ts';
import { type OpenArchive, openArchive } from '../../../src/archive/open-archive.ts';
import { pruneArchive } from '../../../src/archive/prune.ts';
import { readIndex } from '../../../src/archive/read-index.ts';
import { verifyArchive } from '../../../src/archive/verify-archive.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { runReads } from '../../../src/port/steps.ts';
import { rawTexts } from '../../support/archive/raw-texts.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const NOW = new Date('2026-01-20T03:00:00Z');
const DAY = parseDay('2026-01-18');

const opened = (folder: string) =>
  openArchive({
    ...{ folder, emails: 'keep', policy: '', clock: systemClock(NOW) },
    warehouse: { read: (steps) => runReads({ select: async () => [] }, steps()) },
  });

/** Keeps an answer of an organization. */
async function keep(archive: OpenArchive, orgId: string, { runId = 'run', text = '' }): Promise<void> {
  const rows = await archive.keepRows([{ text, count: 1 }]);
  const names = await archive.beginDays([
    {
      ...{ orgId, stream: 'users', day: DAY, runId, pulledAt: NOW, verdict: 'believed', rows },
      ...{ contentSha256: '0'.repeat(64), isOwn: true, requests: 1, today: DAY, settleDays: 3 },
    },
  ]);
  await archive.end(names, 'committed');
}

const filesIn = (folder: string) => readdirSync(join(folder, 'objects')).sort();

const objectsOf = async (folder: string) => objectsIn(contentsOf(await readIndex(folder)).answers);

describe('an archive of several writers', () => {
  test('has a file of each, keeps the same text of both, and is not thinned out meanwhile', async () => {
    const folder = tempDir();
    const [one, two] = [await opened(folder), await opened(folder)];
    await Promise.all([
      keep(one, 'org_1', { runId: 'run_1', text: '{"same":1}' }),
      keep(two, 'org_2', { runId: 'run_2', text: '{"same":1}' }),
    ]);
    await one.keepRows([{ text: '{"under":"way"}', count: 1 }]);
    expect(filesIn(folder)).toHaveLength(2);
    expect(await verifyArchive(folder)).toMatchObject({ findings: [], objects: 2, unusedBytes: 0 });
    const prune = () => pruneArchive(folder, { before: NOW, now: NOW, isDryRun: false });
    await expect(prune()).rejects.toMatchObject({ exitCode: 75 });
    await one.close();
    await expect(prune()).rejects.toMatchObject({ exitCode: 75 });
    await two.close();
    expect((await verifyArchive(folder)).unusedBytes).toBeGreaterThan(0);
    await prune();
    expect(await verifyArchive(folder)).toMatchObject({ findings: [], answers: 2, unusedBytes: 0 });
    // The next run adds nothing for the text that is there.
    const next = await opened(folder);
    await keep(next, 'org_1', { runId: 'run_3', text: '{"same":1}' });
    await next.close();
    expect(filesIn(folder)).toHaveLength(2);
  });

  test('loses the answers of an erased organization, and keeps those of others byte for byte', async () => {
    const folder = tempDir();
    const archive = await opened(folder);
    for (let index = 0; index < 20; index += 1) {
      await keep(archive, 'org_1', { text: `{"secret":${index}}` });
      await keep(archive, 'org_2', { text: `{"other":${index}}` });
    }
    await archive.close();
    const bytesOf = async () =>
      withObjects(folder, async (objects) => {
        const found = new Map<string, string>();
        for (const ref of await objectsOf(folder))
          found.set(ref.sha256, (await objects.read(ref)).bytes.toString('hex'));
        return found;
      });
    const before = await bytesOf();
    const whole = filesIn(folder).map((name) => readFileSync(join(folder, 'objects', name)));
    const erase = (isDryRun: boolean) =>
      eraseFromArchive(folder, {
        ...{ orgId: 'org_1', people: null, contentOf: () => '', now: NOW, isDryRun },
        dropsDamaged: false,
      });
    expect(await erase(true)).toEqual({ answers: 20, objects: 20, dropped: 0 });
    expect(filesIn(folder).map((name) => readFileSync(join(folder, 'objects', name)))).toEqual(whole);
    expect(rawTexts(folder).filter(([, text]) => text.includes('secret'))).toHaveLength(20);
    expect(await erase(false)).toEqual({ answers: 20, objects: 20, dropped: 0 });
    const after = await bytesOf();
    expect(after.size).toBe(20);
    for (const [sha256, bytes] of after) expect(bytes).toBe(before.get(sha256));
    expect(rawTexts(folder).filter(([, text]) => text.includes('secret'))).toEqual([]);
    expect(await verifyArchive(folder)).toMatchObject({ findings: [], answers: 20, unusedBytes: 0 });
    expect(await erase(false)).toEqual({ answers: 0, objects: 0, dropped: 0 });
  });
});
