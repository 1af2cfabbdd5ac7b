import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RoundReport } from '../../../jobs/round.ts';
import { parseDay } from '../../../src/core/day.ts';
import { createMetrics } from '../../../src/serve/metrics/metrics.ts';
import { backUpTo, restoreFrom } from '../../support/backup/run-backup.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { serveHere } from '../../support/serve/service-in-process.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { onDatabase, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const today = parseDay('2026-01-17');

/** Serves two rounds, and replaces the disk between them. */
async function twoRounds(rig: Rig, settings: Rig['settings'], between: () => Promise<void> | void) {
  const codes: number[] = [];
  const refused: string[] = [];
  const reports: RoundReport[] = [];
  const clock = new FakeClock({ now: '2026-01-17T02:00:00Z', auto: true });
  const metrics = await createMetrics({ clock, settings: () => settings });
  const health: { status: number; text: string }[] = [];
  const probe = async () => {
    const response = await fetch(new URL('/healthz', service.url));
    health.push({ status: response.status, text: await response.text() });
  };
  let isStopping = false;
  const service = await serveHere(rig, {
    clock,
    settings,
    schedule: '*/20 * * * *',
    metricsText: ({ warehouse }) => metrics.text(warehouse),
    listeners: [
      metrics.listener,
      {
        begin: async () => {
          if (codes.length === 1) await between();
        },
        end: async (report) => void reports.push(report),
      },
    ],
    onEvent: (event, stop) => {
      if (event.type === 'round-failed') refused.push(event.error);
      if (event.type !== 'round-ended') return;
      codes.push(event.exitCode);
      if (codes.length < 2 || isStopping) return;
      isStopping = true;
      void probe()
        .then(async () =>
          health.push({ status: 0, text: await (await fetch(new URL('/metrics', service.url))).text() }),
        )
        .finally(stop);
    },
  });
  await service.ended;
  const [healthz, scraped] = health;
  return { codes, refused, healthz, metrics: scraped?.text ?? '', events: service.events, reports };
}

it('a folder that is replaced by an empty one while the service runs fails the round, and nothing is stored again', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createRig({ today, users: 5, reports: 2 });
  const folder = join(tempDir(), 'data');
  mkdirSync(folder);
  const settings = {
    ...rig.settings,
    warehouse: join(folder, 'daywalk.db'),
    archives: [join(folder, 'archive.db')],
  };
  const { codes, refused, healthz, metrics, reports } = await twoRounds(rig, settings, () => {
    renameSync(folder, `${folder}-away`);
    mkdirSync(folder);
  });
  expect(codes.slice(0, 2)).toEqual([0, 6]);
  expect(refused[0]).toMatch(
    /^expected the warehouse \S+ of the last round, and .* is empty; nothing was written$/,
  );
  expect(healthz).toMatchObject({ status: 503, text: expect.stringContaining('expected the warehouse') });
  expect(metrics).toContain('\ndaywalk_identity_mismatch 1\n');
  expect(reports[1]?.exitCode).toBe(6);
  rmSync(folder, { recursive: true });
  renameSync(`${folder}-away`, folder);
  expect((await rig.run({ settings, now: today })).report.exitCode).toBe(0);
});

onDatabase(postgres, () => {
  it('a schema that is emptied while the service runs fails the round, and nothing is stored again', async () => {
    const rig = await createRig({ today, users: 5, reports: 2 }, { database: postgres });
    const settings = { ...rig.settings, archives: [join(tempDir(), 'archive.db')] };
    const { codes, refused, healthz } = await twoRounds(rig, settings, () => clear(rig.place));
    expect(codes.slice(0, 2)).toEqual([0, 6]);
    expect(refused[0]).toMatch(/^expected the warehouse \S+ of the last round, and .*; nothing was written$/);
    expect(healthz).toMatchObject({ status: 503 });
  });
});

onEachDatabase((database) => {
  it('a warehouse that was restored from a backup of the former one is accepted with one line', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({ today, users: 5, reports: 2 }, { database });
    const file = tempFile('backup.db');
    const { codes, refused, events } = await twoRounds(rig, rig.settings, async () => {
      await backUpTo(rig, file);
      await restoreFrom(rig, file, { replace: true });
    });
    expect(codes.slice(0, 2)).toEqual([0, 0]);
    expect(refused).toEqual([]);
    const lines = events.flatMap((event) => (event.type === 'warning' ? event.message : []));
    expect(lines.filter((line) => line.includes('is now the warehouse'))).toHaveLength(1);
  });
});
