// @module-tag campaign/answers

import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import { runUnits } from '../../../src/pipeline/run/run.ts';
import { Gate } from '../../../src/privacy/gate.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { faultsOf } from '../../support/fuzz/check-round.ts';
import { Stall } from '../../support/fuzz/longest-computation.ts';
import { Answers, CleanAnswers, transportOver } from '../../support/fuzz/service.ts';
import { storedIn } from '../../support/fuzz/stored.ts';
import { seeded } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TODAY = '2026-02-03';
/** One answer keeps the process busy for so long at most. */
const ANSWER_MS_MAX = 3_000;

test('mutated answers load as sent, are quarantined, or fail their unit', async ({ onTestFinished }) => {
  const random = seeded('mutated answers in process');
  const emulator = await startEmulator({
    realistic: true,
    today: TODAY,
    users: 9,
    reports: 7,
    quirks: {
      usersLimitCap: 3,
      readinessLimitCap: 3,
      cacheFields: true,
      nullMetrics: 0.02,
      newClientType: true,
    },
  });
  onTestFinished(() => emulator.close());
  const clean = new CleanAnswers(emulator);
  const warehouse = await open(sqlite);
  const stall = new Stall();
  const max = answersMax(100_000, 500);
  let mutated = 0;
  let before = await storedIn(warehouse.place);
  for (let number = 0; mutated < max; number += 1) {
    if (number % 50 === 0 && max > 500) process.stderr.write(`mutated answers: ${mutated} of ${max}\n`);
    // Now and then the very first answer is mutated too, from which a run learns whose the key is.
    const answers = new Answers(clean, random(), random() < 0.1 ? 0 : 1);
    const events: RunEvent[] = [];
    const lock = await warehouse.lock();
    const report = await stall.during(() =>
      runUnits({
        command: 'run',
        lastDay: parseDay('2026-02-02'),
        asked: { firstDay: null, streams: null, maxAgeSeconds: null },
        force: random() < 0.5,
        newestFirst: false,
        source: {
          transport: transportOver(answers),
          hosts: { baseUrl: emulator.url, appUrl: emulator.url },
          gate: new Gate({ mode: 'keep' }),
        },
        warehouse,
        lock,
        clock: new FakeClock({ auto: true, now: `${TODAY}T03:00:00Z` }),
        minGroup: 5,
        concurrency: 8,
        rangeDays: random() < 0.8 ? 1 : 5,
        settleDays: 3_650,
        watchDays: 31,
        acceptLoss: false,
        versions: {},
        observe: (event) => events.push(event),
        signal: new AbortController().signal,
      }),
    );
    await lock.release();
    mutated += answers.mutated;
    const after = await storedIn(warehouse.place);
    const { served } = answers;
    const orgId = report.orgId ?? emulator.orgId;
    expect(faultsOf({ orgId, served, events, report, before, after })).toEqual([]);
    before = after;
  }
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  process.stderr.write(`longest stall: ${Math.round(stall.longestMs)} ms\n`);
  expect(stall.longestMs).toBeLessThan(ANSWER_MS_MAX);
  countUp('mutated answers', 'in process', mutated);
});
