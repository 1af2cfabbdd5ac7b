import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type RoundReport, runRound } from '../../../jobs/round.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import type { RunLock } from '../../../src/port/index.ts';
import type { ServeEvent } from '../../../src/serve/service-state.ts';
import { weeklyBrief } from '../../../src/serve/weekly-brief.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

// 2026-02-10 is a Tuesday: the week that begins on the 2nd ended two days before.
const TUESDAY = '2026-02-10T03:00:00Z';

onEachDatabase((database) => {
  it('a complete round from Tuesday on hands the week to the command once; a failure is reported and repeated', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({ today: parseDay('2026-02-19'), users: 8, reports: 2 }, { database });
    const folder = tempDir();
    const [mails, refusal] = [join(folder, 'mails'), join(folder, 'refuse')];
    // The command fails while there is a file; each mail is appended otherwise.
    const briefCommand = `test ! -e '${refusal}' || { echo 'mailbox full' >&2; exit 75; }; cat >> '${mails}'`;
    const settings = { ...rig.settings, briefCommand };
    const events: (RunEvent | ServeEvent)[] = [];
    const listen = async (
      now: string,
      change: (report: RoundReport) => RoundReport | Promise<RoundReport> = (report) => report,
    ) => {
      const { signal } = new AbortController();
      const job = {
        clock: new FakeClock({ now }),
        signal,
        observe: (event: RunEvent | ServeEvent) => events.push(event),
      };
      const report = await runRound(
        settings,
        { command: 'run', force: false, newestFirst: false, wait: false },
        job,
      );
      expect(report.exitCode).toBe(0);
      for (const listener of weeklyBrief(settings, job)) await listener.end?.(await change(report));
    };
    const received = () => (existsSync(mails) ? readFileSync(mails, 'utf8') : '');
    const briefOf = async (week: string) => {
      const out = join(folder, week);
      await daywalkInProcess(
        ['brief', '--week', week, '--out', out, '--warehouse', rig.path, '--log', 'silent'],
        {
          cwd: folder,
        },
      );
      return readFileSync(join(out, 'message.eml'), 'utf8');
    };
    const failures = () => events.filter(({ type }) => type === 'serve-failed');

    // The service begins on a Wednesday: its first week is no whole one.
    await listen('2026-01-20T03:00:00Z');
    expect([received(), failures()]).toEqual(['', []]);
    // On Monday, the week is not over for two days: this is the week before.
    await listen('2026-02-09T03:00:00Z');
    const before = received();
    expect(before).toBe(await briefOf('2026-01-26'));
    const incomplete = (report: RoundReport): RoundReport => ({
      ...report,
      organizations: report.organizations.map((outcome) => ({ ...outcome, exitCode: 4 })),
    });
    await listen(TUESDAY, incomplete);
    expect(received()).toBe(before);

    writeFileSync(refusal, '');
    await listen(TUESDAY);
    expect(received()).toBe(before);
    expect(failures()).toMatchObject([
      {
        doing: 'hand over the brief of the week',
        error: expect.stringContaining('ended with 75: mailbox full'),
      },
    ]);
    rmSync(refusal);
    await listen(TUESDAY);
    const both = before + (await briefOf('2026-02-02'));
    expect(received()).toBe(both);
    await listen('2026-02-11T03:00:00Z');
    expect(received()).toBe(both);

    // A run that begins while the command works keeps nothing from being remembered.
    const other = await open(rig.place);
    let lock: RunLock | undefined;
    await listen('2026-02-17T03:00:00Z', async (report) => {
      lock = await other.lock();
      return report;
    });
    await lock?.release();
    const three = both + (await briefOf('2026-02-09'));
    await listen('2026-02-18T03:00:00Z');
    expect(received()).toBe(three);
    expect(failures()).toHaveLength(1);
  });

  it('two services that end a round at the same time hand the week over once', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({ today: parseDay('2026-02-10'), users: 3, reports: 0 }, { database });
    const mails = join(tempDir(), 'mails');
    const settings = { ...rig.settings, briefCommand: `sleep 1; cat >/dev/null; echo mail >> '${mails}'` };
    const { signal } = new AbortController();
    const job = { clock: new FakeClock({ now: TUESDAY, auto: true }), signal, observe: () => undefined };
    const request = { command: 'run', force: false, newestFirst: false, wait: false };
    const report = await runRound(settings, request, job);
    const listeners = [...weeklyBrief(settings, job), ...weeklyBrief(settings, job)];
    await Promise.all(listeners.map((listener) => listener.end?.(report)));
    for (const listener of listeners) await listener.end?.(report);
    expect(readFileSync(mails, 'utf8')).toBe('mail\n');
  });
});

it('without a command there is nothing to hand over', async () => {
  const { settings } = await createRig({ today: parseDay('2026-02-10'), users: 1, reports: 0 });
  const { signal } = new AbortController();
  expect(
    weeklyBrief(settings, { clock: new FakeClock({ now: TUESDAY }), signal, observe: () => undefined }),
  ).toEqual([]);
});

it('a brief whose lock cannot be taken is a failure of its own, and no defect of the round', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createRig({ today: parseDay('2026-02-10'), users: 1, reports: 0 });
  mkdirSync(`${rig.path}.brief.lock`);
  const settings = { ...rig.settings, briefCommand: 'cat' };
  const events: (RunEvent | ServeEvent)[] = [];
  const observe = (event: RunEvent | ServeEvent) => void events.push(event);
  const job = { clock: new FakeClock({ now: TUESDAY }), signal: new AbortController().signal, observe };
  const request = { command: 'run', force: false, newestFirst: false, wait: false };
  const report = await runRound(settings, request, job);
  for (const listener of weeklyBrief(settings, job)) await listener.end?.(report);
  expect(events.at(-1)).toMatchObject({
    doing: 'hand over the brief of the week',
    error: expect.stringContaining('.brief.lock'),
  });
});
