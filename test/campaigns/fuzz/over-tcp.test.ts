// @module-tag campaign/answers

import { expect, test } from 'vitest';
import { runExport } from '../../../jobs/run.ts';
import { createRecordedSession } from '../../../jobs/sessions.ts';
import { SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DaywalkError } from '../../../src/core/errors.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { faultsOf } from '../../support/fuzz/check-round.ts';
import { mutate } from '../../support/fuzz/mutate.ts';
import { serve } from '../../support/fuzz/mutating-server.ts';
import { Answers, CleanAnswers } from '../../support/fuzz/service.ts';
import { storedIn } from '../../support/fuzz/stored.ts';
import { seeded } from '../../support/random/seed.ts';
import { contextOf, createRig, rigOver } from '../../support/rig/rig.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { query } from '../../support/warehouse/open-temporary.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TODAY = '2026-02-03';

test('whole runs over TCP load mutated answers as sent, quarantine them, or fail their units', async ({
  onTestFinished,
}) => {
  const random = seeded('mutated answers over TCP');
  const quirks = { usersLimitCap: 3, readinessLimitCap: 3, nullMetrics: 0.02 };
  const emulator = await startEmulator({ realistic: true, today: TODAY, users: 9, reports: 7, quirks });
  onTestFinished(() => emulator.close());
  const clean = new CleanAnswers(emulator);
  let answers = new Answers(clean, random());
  const url = await serve((path) => answers.to(path));
  const rig = rigOver(emulator, sqlite.place());
  await rig.run({ now: parseDay(TODAY) });
  const max = answersMax(4_000, 100);
  let mutated = 0;
  let before = await storedIn(rig.place);
  while (mutated < max) {
    answers = new Answers(clean, random(), 1);
    const events: RunEvent[] = [];
    const report = await runExport(
      { ...rig.settings, baseUrl: url, appUrl: url, attempts: 2, rangeDays: random() < 0.5 ? 1 : 31 },
      { command: 'run', streams: STREAMS, force: true, newestFirst: random() < 0.5, wait: false },
      {
        ...contextOf(parseDay(TODAY), (event) => events.push(event)),
        clock: new FakeClock({ auto: true, now: `${TODAY}T03:00:00Z` }),
      },
    );
    mutated += answers.mutated;
    const after = await storedIn(rig.place);
    const orgId = report.orgId ?? emulator.orgId;
    expect(faultsOf({ orgId, served: answers.served, events, report, before, after })).toEqual([]);
    before = after;
  }
  countUp('mutated answers', 'in whole runs over TCP', mutated);
});

test('mutated answers to a session creation are recorded as sent, or reported with the possible outcome', async () => {
  const random = seeded('mutated sessions');
  const rig = await createRig({ users: 3, reports: 0 });
  const request = {
    computerId: 'computer-1',
    sessionSettings: { model: 'atlas-4', tags: [{ name: 'nightly' }] },
  };
  const made = await fetch(rig.emulator.url + SESSIONS_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${rig.emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const template: { sessionId: string } = JSON.parse(await made.text());
  let body: Buffer = Buffer.from('');
  const headers = { 'content-type': 'application/json' };
  const url = await serve(async () => ({ status: 201, headers, body }));
  const settings = { ...rig.settings, baseUrl: url, appUrl: url };
  const max = answersMax(3_000, 60);
  let recorded = 0;
  for (let number = 0; number < max; number += 1) {
    const sent = Buffer.from(JSON.stringify({ ...template, sessionId: `session ${number}` }));
    body = number === 0 ? sent : mutate(sent, random);
    try {
      await createRecordedSession(
        settings,
        { request, orgId: 'org_1' },
        contextOf(parseDay(TODAY)),
        () => undefined,
      );
    } catch (error) {
      expect(error, body.toString()).toBeInstanceOf(DaywalkError);
      expect(['UnknownOutcomeError', 'StorageError'], String(error)).toContain(
        error instanceof Error && error.name,
      );
      expect(number).toBeGreaterThan(0);
      continue;
    }
    recorded += 1;
    const answer: Record<string, unknown> = JSON.parse(body.toString());
    const [row] = query(rig.path, 'SELECT * FROM sessions WHERE session_id = ?', answer['sessionId']);
    expect(row, body.toString()).toMatchObject({
      title: answer['title'] ?? null,
      status: answer['status'],
      // A zero has no sign in a column of whole numbers.
      message_count: Number(answer['messageCount']) + 0,
      created_at: new Date(Number(answer['createdAt'])).toISOString(),
      computer_id: answer['computerId'] ?? null,
    });
    expect(plain(JSON.parse(String(row?.['session_settings'])))).toEqual(
      plain(answer['sessionSettings'] ?? null),
    );
  }
  expect(recorded).toBeGreaterThan(max / 20);
  countUp('mutated answers', 'to creations of sessions', max);
});

/** A value as JSON knows it: without the sign of a zero. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
