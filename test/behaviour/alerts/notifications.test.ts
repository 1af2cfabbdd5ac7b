import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { RoundListener } from '../../../jobs/round.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import { notifyListeners } from '../../../src/serve/alerts/alerts.ts';
import { messagesOf, newsOf } from '../../support/alerts/messages.ts';
import { ANSWERS, receiver, redirectTo } from '../../support/alerts/receiver.ts';
import { DELAY_MS_MAX, round } from '../../support/alerts/round.ts';
import { backUpTo, restoreFrom } from '../../support/backup/run-backup.ts';
import { metricsOf, seriesWith } from '../../support/monitoring/read-metrics.ts';
import { contextOf, createRig, type Rig } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const FIRST = parseDay('2026-01-18');
const HOLE = parseDay('2026-01-16');
const TEAM = "INSERT INTO budgets (org_id, month, team, amount, currency) VALUES (?, '2026-01', ?, 1, 'EUR')";
const PRICE =
  "INSERT INTO prices (org_id, valid_from, valid_to, currency, price_per_million) VALUES (?, '2026-01-01', NULL, 'EUR', 1000000)";

function fails(match: Rule['match'], status = 422): Rule {
  return { id: 'fault', ...(match && { match }), action: { type: 'status', status } };
}

/** A rig with a few users, whose service knows the days until February. */
function smallRig(database?: Parameters<typeof createRig>[1]): Promise<Rig> {
  return createRig({ users: 12, reports: 2, today: '2026-02-10' }, database);
}

onEachDatabase((database) => {
  test('a failed run, a missing day, a restatement, a doubted loss and a budget are each reported once, and once when over', async () => {
    const rig = await smallRig({ database });
    const webhook = await receiver();
    let now = FIRST;
    const night = async (rules: Rule[] = []) => {
      rig.emulator.setRules(rules);
      const { report, warnings } = await round(rig, { now, alerts: { alertWebhook: webhook.url } });
      now = shiftDay(now, 1);
      expect(warnings.filter((warning) => warning.includes('notif'))).toEqual([]);
      return report.exitCode;
    };
    const news = () => newsOf(webhook);
    const hole = fails({ stream: 'tools', day: HOLE });

    expect(await night()).toBe(0);
    await rig.place.execute('DELETE FROM export_units WHERE stream = ? AND date = ?', 'tools', HOLE);
    expect([await night([hole]), news()]).toEqual([4, [['+ run-failed 4']]]);
    // The hole is three days old, then four.
    expect([await night([hole]), news().slice(1)]).toEqual([4, [[`+ day-missing tools ${HOLE}`]]]);
    expect([await night([hole]), news().slice(2)]).toEqual([4, []]);
    expect([await night(), news().slice(2)]).toEqual([
      0,
      [[`- day-missing tools ${HOLE}`, '- run-failed 4']],
    ]);

    rig.emulator.revise({ kind: 'restate', day: shiftDay(now, -2), streams: ['tokens'] });
    expect(await night()).toBe(0);
    const restated = `restatement tokens ${shiftDay(now, -3)}`;
    expect(news().slice(3)).toEqual([[`+ ${restated}`]]);
    expect([await night(), news().slice(4)]).toEqual([0, [[`- ${restated}`]]]);

    const emptied = shiftDay(now, -2);
    rig.emulator.revise({ kind: 'empty', day: emptied, streams: ['users'] });
    expect(await night()).toBe(5);
    expect(news()[5]).toEqual([`+ loss-doubted users ${emptied}`, '+ run-failed 5']);
    rig.emulator.revise({ kind: 'revert', day: emptied });
    expect(await night()).toBe(0);
    expect(news()[6]).toEqual([`- loss-doubted users ${emptied}`, '- run-failed 5']);

    const team = await rig.value('SELECT MIN(team) FROM month_forecast');
    await rig.place.execute(PRICE, rig.emulator.orgId);
    await rig.place.execute(TEAM, rig.emulator.orgId, team ?? '');
    expect([await night(), news().slice(7)]).toEqual([0, [[`+ budget-exceeded 2026-01 ${team}`]]]);
    await rig.place.execute('DELETE FROM budgets');
    expect([await night(), news().slice(8)]).toEqual([0, [[`- budget-exceeded 2026-01 ${team}`]]]);

    const ids = messagesOf(webhook).map(({ opened, over }) => [...opened, ...over].map(({ id }) => id));
    expect(ids[2]?.toSorted()).toEqual([...(ids[0] ?? []), ...(ids[1] ?? [])].toSorted());
    expect(
      await rig.value("SELECT value FROM export_state WHERE org_id <> '' AND name = 'incidents'"),
    ).toContain('"incidents":[]');
  });

  test('a restatement is reported after a night whose clock was a month ahead has found another', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await smallRig({ database });
    const webhook = await receiver();
    const night = (date: string) =>
      round(rig, { now: parseDay(date), alerts: { alertWebhook: webhook.url } });
    await night('2026-01-21');
    rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-20'), streams: ['tokens'] });
    await night('2026-01-22');
    const [at, ahead] = ['2026-01-22T03:00:00.000Z', '2026-02-19T03:00:00.000Z'];
    await rig.place.execute('UPDATE restatements SET detected_at = ?', ahead);
    const [state] = await rig.column(
      "SELECT value FROM export_state WHERE org_id <> '' AND name = 'incidents'",
    );
    await rig.place.execute(
      "UPDATE export_state SET value = ? WHERE org_id <> '' AND name = 'incidents'",
      String(state).replaceAll(at, ahead),
    );
    rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-21'), streams: ['tokens'] });
    await night('2026-01-23');
    await night('2026-01-24');
    expect(newsOf(webhook)).toEqual([
      ['+ restatement tokens 2026-01-20'],
      ['+ restatement tokens 2026-01-21', '- restatement tokens 2026-01-20'],
      ['- restatement tokens 2026-01-21'],
    ]);
  });

  test('a restatement is reported once, although the clock of the next night is two days behind', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await smallRig({ database });
    const webhook = await receiver();
    const night = (date: string) =>
      round(rig, { now: parseDay(date), alerts: { alertWebhook: webhook.url } });
    await night('2026-01-21');
    rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-20'), streams: ['tokens'] });
    for (const date of ['2026-01-22', '2026-01-20', '2026-01-24', '2026-01-25']) await night(date);
    expect(newsOf(webhook)).toEqual([
      ['+ restatement tokens 2026-01-20'],
      ['- restatement tokens 2026-01-20'],
    ]);
  });
});

test('an incident that was over is not over again after restores of backups from before, an older one first', {
  tags: 'ci/rare',
}, async () => {
  const rig = await smallRig();
  const webhook = await receiver();
  const night = (date: string) => round(rig, { now: parseDay(date), alerts: { alertWebhook: webhook.url } });
  const [older, newer] = [tempFile('older.db'), tempFile('newer.db')];
  const installation = { settings: rig.settings, today: parseDay('2026-01-22') };
  await night('2026-01-21');
  await backUpTo(installation, older);
  rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-20'), streams: ['tokens'] });
  await night('2026-01-22');
  await backUpTo(installation, newer);
  await night('2026-01-23');
  for (const file of [older, newer]) await restoreFrom(installation, file, { replace: true });
  await night('2026-01-24');
  expect(newsOf(webhook)).toEqual([['+ restatement tokens 2026-01-20'], ['- restatement tokens 2026-01-20']]);
});

test('a failed run is reported after a restore over the warehouse of another organization, whose run had failed too', {
  tags: 'ci/rare',
}, async () => {
  const [rig, other] = [await smallRig(), await createRig({ users: 12, seed: 8, today: '2026-02-10' })];
  const webhook = await receiver();
  const alerts = { alertWebhook: webhook.url };
  const failing = { now: FIRST, alerts, settings: { apiKey: 'sk-wrong-key-1', warehouse: other.path } };
  const file = tempFile('backup.db');
  await round(rig, { now: FIRST });
  await backUpTo(rig, file);
  await round(other, { now: FIRST });
  await round(other, failing);
  await restoreFrom({ settings: other.settings, today: FIRST }, file, { replace: true });
  await round(rig, failing);
  expect(newsOf(webhook)).toEqual([['+ run-failed 3'], ['+ run-failed 3']]);
});

test('a failed run of a wrong ID is over once the right one is given', async () => {
  const rig = await smallRig();
  const webhook = await receiver();
  const alerts = { alertWebhook: webhook.url };
  const { orgId } = rig.emulator;
  await round(rig, { now: FIRST, settings: { orgId } });
  await round(rig, { now: FIRST, alerts, settings: { orgId: 'org_mistyped' } });
  await round(rig, { now: FIRST, alerts, settings: { orgId } });
  expect(newsOf(webhook)).toEqual([['+ run-failed 5'], ['- run-failed 5']]);
});

test('a failed run is over once a job that now names its organization succeeds', {
  tags: 'ci/rare',
}, async () => {
  const rig = await smallRig();
  const webhook = await receiver();
  const alerts = { alertWebhook: webhook.url };
  await round(rig, { now: FIRST });
  await round(rig, { now: FIRST, alerts, settings: { apiKey: 'sk-wrong-key-1' } });
  await round(rig, { now: FIRST, alerts, settings: { orgId: rig.emulator.orgId } });
  expect(newsOf(webhook)).toEqual([['+ run-failed 3'], ['- run-failed 3']]);
});

test('a failed run is not over once a backfill succeeds, as for health', { tags: ['ci/rare'] }, async () => {
  const rig = await smallRig();
  const webhook = await receiver();
  const alerts = { alertWebhook: webhook.url };
  await round(rig, { now: FIRST });
  await round(rig, { now: FIRST, alerts, settings: { apiKey: 'sk-wrong-key-1' } });
  const { report } = await round(rig, { now: FIRST, alerts, request: { command: 'backfill' } });
  expect([report.exitCode, newsOf(webhook)]).toEqual([0, [['+ run-failed 3']]]);
  await round(rig, { now: FIRST, alerts });
  expect(newsOf(webhook).slice(1)).toEqual([['- run-failed 3']]);
});

describe('missing days', () => {
  test('that are no longer expected are not called stored', { tags: ['ci/rare'] }, async () => {
    const rig = await smallRig();
    const webhook = await receiver();
    const alerts = { alertWebhook: webhook.url };
    rig.emulator.setRules([fails({ stream: 'tools', day: HOLE })]);
    await round(rig, { now: FIRST, alerts });
    await round(rig, { now: shiftDay(FIRST, 3), alerts });
    await round(rig, { now: shiftDay(FIRST, 4), alerts, settings: { firstDay: FIRST } });
    expect(newsOf(webhook).at(-1)).toEqual([`- day-missing tools ${HOLE}`, '- run-failed 4']);
    expect(messagesOf(webhook).at(-1)?.text).toContain(`tools of ${HOLE}: stored, or no longer expected`);
  });

  test('of a first export that takes several nights raise nothing, and a hole of many days is one message', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({ users: 6, reports: 2, today: '2026-05-01' });
    const webhook = await receiver();
    const spent = await round(rig, {
      alerts: { alertWebhook: webhook.url },
      settings: { maxRequests: 12, rangeDays: 1 },
    });
    expect(spent.report.exitCode).toBe(4);
    expect(newsOf(webhook)).toEqual([['+ run-failed 4']]);

    const later = parseDay('2026-05-09');
    rig.emulator.setRules([fails({ stream: 'tools' })]);
    await round(rig, { now: later, alerts: { alertWebhook: webhook.url }, settings: { attempts: 1 } });
    const [message] = messagesOf(webhook).slice(1);
    expect(message?.opened_count).toBeGreaterThan(60);
    // The metric counts the same days.
    const state = await rig.value("SELECT value FROM export_state WHERE org_id <> '' AND name = 'incidents'");
    const days = new Set(String(state).match(/(?<=day-missing","key":"\w+ )[\d-]+/g));
    expect(days.size).toBeGreaterThan(100);
    const metrics = await metricsOf(rig, { now: later });
    expect(seriesWith(metrics, 'daywalk_holes')).toEqual({ 'daywalk_holes{}': days.size });
    expect(message?.opened).toHaveLength(50);
    expect(message?.text).toMatch(/tools of 2026-\S+ to 2026-05-05: not stored after three days/);
    expect(message?.text.split('\n').length).toBeLessThan(25);
  });
});

describe('a webhook', () => {
  test('receives what was found although the warehouse took three seconds', {
    tags: ['ci/rare'],
  }, async () => {
    const rig = await smallRig();
    const webhook = await receiver();
    await round(rig, { now: FIRST });
    const { clock, signal, observe } = contextOf(FIRST);
    const settings = { ...rig.settings, alertWebhook: webhook.url };
    // Another program writes while the incidents are examined.
    const other = new Sqlite(rig.path);
    const busy: RoundListener = {
      end: async () => {
        other.exec('BEGIN IMMEDIATE');
        setTimeout(() => other.exec('COMMIT'), 3_000);
      },
    };
    const listeners = [busy, ...notifyListeners(settings, { clock, signal, observe })];
    await round(rig, { now: FIRST, settings: { apiKey: 'sk-wrong-key-1' }, listeners });
    expect(newsOf(webhook)).toEqual([['+ run-failed 3']]);
    other.close();
  });

  test('receives only a text in the format chat', async () => {
    const rig = await smallRig();
    const webhook = await receiver();
    const alerts = { alertWebhook: webhook.url, alertWebhookFormat: 'chat' } as const;
    await round(rig, { now: FIRST });
    await round(rig, { now: FIRST, alerts, settings: { apiKey: 'sk-wrong-key-1' } });
    const [message] = webhook.received;
    expect(JSON.parse(message?.body ?? '')).toEqual({
      text: 'Daywalk\nNew problems:\n- the organization: the run failed with exit code 3: the service refused the credential',
    });
    expect(message?.contentType).toBe('application/json');
  });

  testVariants([
    ['hangs', ANSWERS.hangs],
    ['answers byte by byte', ANSWERS.drips],
    ['sends its head byte by byte', ANSWERS['drips its head']],
    ['answers 500', ANSWERS['answers 500']],
    ['redirects', redirectTo('http://localhost:9/')],
    ['closes the connection', ANSWERS['closes the connection']],
  ])(
    'that %s delays a run by less than five seconds, and receives everything once it works',
    { tags: 'ci/rare' },
    async (_, answer) => {
      const rig = await smallRig();
      await round(rig, { now: FIRST });
      const before = await rig.digest();
      const webhook = await receiver(answer);
      const alerts = { alertWebhook: webhook.url, pingUrl: webhook.url };
      rig.emulator.setRules([fails({}, 401)]);
      const failed = await round(rig, { now: FIRST, alerts });
      expect([failed.report.exitCode, await rig.digest()]).toEqual([3, before]);
      expect(
        failed.warnings.filter((warning) => /^the notification was not accepted: /.test(warning)),
      ).toHaveLength(1);
      expect(failed.delayMs).toBeLessThan(DELAY_MS_MAX);

      rig.emulator.setRules([]);
      const works = await receiver();
      await round(rig, { now: FIRST, alerts: { alertWebhook: works.url } });
      // It began and ended before anybody was notified, so one message says both.
      expect(newsOf(works)).toEqual([['+ run-failed 3']]);
      expect(messagesOf(works)[0]?.opened[0]?.ended_at).not.toBeNull();
      await round(rig, { now: FIRST, alerts: { alertWebhook: works.url } });
      expect(works.received).toHaveLength(1);
    },
  );
});
