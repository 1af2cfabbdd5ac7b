// @module-tag database-specific

import { expect, it } from 'vitest';
import { newsOf } from '../../support/alerts/messages.ts';
import { ANSWERS, receiver } from '../../support/alerts/receiver.ts';
import { DELAY_MS_MAX, round } from '../../support/alerts/round.ts';
import { createRig } from '../../support/rig/rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const SLOW_ANSWER_MS = 300;

onDatabase(postgres, () => {
  it('reports an incident once although two workers end at the same time', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ users: 6, reports: 2 }, { database: postgres });
    await round(rig);
    const webhook = await receiver((response) => {
      setTimeout(() => ANSWERS.accepts(response), SLOW_ANSWER_MS);
    });
    const settings = { apiKey: 'sk-revoked-000' };
    const alerts = { alertWebhook: webhook.url };
    const rounds = await Promise.all([round(rig, { settings, alerts }), round(rig, { settings, alerts })]);
    expect(rounds.map(({ report }) => report.exitCode)).toEqual([3, 3]);
    expect(newsOf(webhook)).toEqual([['+ run-failed 3']]);
    for (const { warnings, delayMs } of rounds) {
      expect(warnings.filter((warning) => warning.includes('notif'))).toEqual([]);
      expect(delayMs).toBeLessThan(DELAY_MS_MAX);
    }
  });
});
