import { expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { messagesOf } from '../../support/alerts/messages.ts';
import { receiver } from '../../support/alerts/receiver.ts';
import { createOrganizationsRig } from '../../support/organizations/organizations-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  it('names the organization of an incident, which another one does not end, but its removal from the file', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['research', 'sales'], database);
    const webhook = await receiver();
    const env = { DAYWALK_ALERT_WEBHOOK: webhook.url };
    const news = () =>
      messagesOf(webhook).map(({ opened, over }) => [
        ...opened.map(({ organization, kind }) => `+ ${organization} ${kind}`),
        ...over.map(({ organization, kind }) => `- ${organization} ${kind}`),
      ]);
    rig.writeKey('0.key', 'sk-revoked-000');
    expect((await rig.run('', env)).code).toBe(3);
    expect(news()).toEqual([['+ research run-failed']]);
    expect((await rig.run('--organization sales', env)).code).toBe(0);
    expect((await rig.run('--organization research', env)).code).toBe(3);
    expect(news()).toHaveLength(1);
    rig.writeKey('0.key', rig.emulators[0]?.apiKey ?? '');
    expect((await rig.run('--organization research', env)).code).toBe(0);
    expect(news().slice(1)).toEqual([['- research run-failed']]);

    rig.writeKey('0.key', 'sk-revoked-000');
    expect((await rig.run('', env)).code).toBe(3);
    rig.list(rig.entries.slice(1));
    expect((await rig.run('', env)).code).toBe(0);
    expect(news().slice(2)).toEqual([['+ research run-failed'], ['- research run-failed']]);
  });

  it('reports the missing days of an organization whose key is refused, by its name', {
    tags: 'ci/again',
  }, async () => {
    const rig = await createOrganizationsRig(['research', 'sales'], database);
    const webhook = await receiver();
    const env = { DAYWALK_ALERT_WEBHOOK: webhook.url };
    expect((await rig.run('', env)).code).toBe(0);
    rig.writeKey('0.key', 'sk-revoked-000');
    for (const emulator of rig.emulators) emulator.setToday(parseDay('2026-01-28'));
    expect((await rig.run('', { ...env, DAYWALK_NOW: '2026-01-28T03:00:00Z' })).code).toBe(3);
    const [message] = messagesOf(webhook);
    // The day that was in progress in the first run has ended three days ago.
    expect(message?.opened.map(({ organization, kind, day }) => [organization, kind, day])).toEqual([
      ['research', 'run-failed', undefined],
      ...DAILY_STREAMS.map(() => ['research', 'day-missing', '2026-01-24']),
    ]);
    rig.writeKey('0.key', rig.emulators[0]?.apiKey ?? '');
    expect((await rig.run('', { ...env, DAYWALK_NOW: '2026-01-28T04:00:00Z' })).code).toBe(0);
    expect(messagesOf(webhook)[1]?.over_count).toBe(1 + DAILY_STREAMS.length);
  });

  it('ends every incident of an organization that the file has no more, and says why', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['research', 'sales'], database);
    const webhook = await receiver();
    const env = { DAYWALK_ALERT_WEBHOOK: webhook.url };
    await rig.run('', env);
    rig.writeKey('0.key', 'sk-revoked-000');
    for (const emulator of rig.emulators) emulator.setToday(parseDay('2026-01-28'));
    await rig.run('', { ...env, DAYWALK_NOW: '2026-01-28T03:00:00Z' });
    // A new name whose first run is refused may stand for it.
    rig.list(rig.entries.map((entry, index) => (index === 0 ? { ...entry, name: 'science' } : entry)));
    await rig.run('', { ...env, DAYWALK_NOW: '2026-01-28T03:30:00Z' });
    rig.list(rig.entries.slice(1));
    for (const hour of ['04', '05']) await rig.run('', { ...env, DAYWALK_NOW: `2026-01-28T${hour}:00:00Z` });
    const [began, renamed, ended, ...others] = messagesOf(webhook);
    const missing = DAILY_STREAMS.map(() => 'day-missing');
    const kindsOf = (list: readonly { kind: string }[] = []) => list.map(({ kind }) => kind).toSorted();
    expect(kindsOf(began?.opened)).toEqual([...missing, 'run-failed']);
    expect([kindsOf(renamed?.opened), kindsOf(renamed?.over)]).toEqual([['run-failed'], ['run-failed']]);
    expect([kindsOf(ended?.opened), kindsOf(ended?.over)]).toEqual([[], [...missing, 'run-failed']]);
    expect(others).toEqual([]);
    expect(ended?.text).toContain(
      '- research: not exported any more (tokens of 2026-01-24: not stored after three days)',
    );
  });

  it('goes on with an organization that has a job of its own instead of the file', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['research', 'sales'], database);
    const [, sales] = rig.emulators;
    const webhook = await receiver();
    const env = { DAYWALK_ALERT_WEBHOOK: webhook.url };
    await rig.run('', env);
    for (const emulator of rig.emulators) emulator.setToday(parseDay('2026-02-02'));
    sales?.setRules([{ match: { stream: 'tokens' }, action: { type: 'status', status: 422 } }]);
    await rig.run('', { ...env, DAYWALK_NOW: '2026-01-29T03:00:00Z' });
    const news = messagesOf(webhook).length;
    expect(
      messagesOf(webhook)
        .at(-1)
        ?.opened.map(({ organization }) => organization),
    ).toContain('sales');
    rig.list(rig.entries.slice(0, 1));
    const own = {
      ...env,
      ...{
        DAYWALK_ORGANIZATIONS: '',
        DAYWALK_API_KEY: sales?.apiKey ?? '',
        DAYWALK_BASE_URL: sales?.url ?? '',
      },
      DAYWALK_ORG_ID: sales?.orgId ?? '',
    };
    for (const time of ['29T04', '30T03', '30T04', '31T03', '31T04']) {
      const now = { DAYWALK_NOW: `2026-01-${time}:00:00Z` };
      await rig.run('', { ...(time.endsWith('04') ? own : env), ...now });
    }
    // Neither job ends the failed run of the other.
    const refused = { ...own, DAYWALK_API_KEY: 'sk-revoked-000', DAYWALK_NOW: '2026-01-31T05:00:00Z' };
    expect((await rig.run('', refused)).code).toBe(3);
    await rig.run('', { ...env, DAYWALK_NOW: '2026-02-01T03:00:00Z' });
    const later = messagesOf(webhook).slice(news);
    const failed = later.flatMap(({ opened, over }) => [...opened, ...over]);
    expect(failed.filter((incident) => incident['exit_code'] === 3)).toHaveLength(1);
    const missing = later.flatMap(({ over }) => over.filter(({ kind }) => kind === 'day-missing'));
    expect(missing).toEqual([]);
  });

  it('does not end the failed first run of a job beside it', async () => {
    const rig = await createOrganizationsRig(['research', 'sales'], database);
    const [, sales] = rig.emulators;
    const webhook = await receiver();
    const env = { DAYWALK_ALERT_WEBHOOK: webhook.url };
    rig.list(rig.entries.slice(0, 1));
    await rig.run('', env);
    const own = {
      ...env,
      ...{ DAYWALK_ORGANIZATIONS: '', DAYWALK_API_KEY: 'sk-revoked-000', DAYWALK_BASE_URL: sales?.url ?? '' },
      DAYWALK_ORG_ID: sales?.orgId ?? '',
    };
    expect((await rig.run('', own)).code).toBe(3);
    await rig.run('', { ...env, DAYWALK_NOW: '2026-01-26T03:00:00Z' });
    expect((await rig.run('', { ...own, DAYWALK_NOW: '2026-01-26T04:00:00Z' })).code).toBe(3);
    expect(messagesOf(webhook).map(({ opened, over }) => [opened.length, over.length])).toEqual([[1, 0]]);
  });
});
