import { describe, expect, it } from 'vitest';
import { connectAssistant } from '../../support/assistants/client.ts';
import { createReportRig, MIN_GROUP } from '../../support/audience/report-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const NOW = '2026-02-24T03:00:00Z';
const WEEKS = '2026-01-19 to 2026-02-15';

onEachDatabase((database) => {
  describe('an assistant of a team', () => {
    it('sees the published weeks, their total, and nothing else', { tags: 'ci/rare' }, async () => {
      const rig = await createReportRig(database);
      const { call, failures } = await connectAssistant(rig.place, {
        now: NOW,
        audience: 'team',
        minGroup: MIN_GROUP,
      });
      const ask = (given: Readonly<Record<string, unknown>>) =>
        call('query_metric', { metric: 'billable_tokens', ...given });
      const stored = (dimension: string) =>
        rig.sql<{ week: string; name: string; value: number }>(
          `SELECT week_start AS week, block AS name, value FROM published_weeks WHERE dimension = ? AND metric = 'billable_tokens' ORDER BY week_start, block`,
          dimension,
        );

      const whole = await ask({});
      const total = await stored('total');
      expect(whole.data['rows']).toEqual(total.map(({ week, value }) => ({ week, value })));
      expect(whole.data['total']).toBeCloseTo(
        total.reduce((sum, { value }) => sum + value, 0),
        3,
      );
      expect(whole.data).toMatchObject({
        final: true,
        from: '2026-01-19',
        until: '2026-02-15',
        run_id: null,
      });

      const teams = await ask({ by: ['week', 'team'] });
      expect(teams.data['rows']).toEqual(
        (await stored('team')).map(({ week, name, value }) => ({ week, team: name, value })),
      );

      const weekly = { from: '2026-02-02', until: '2026-02-08' };
      const people = await call('query_metric', { metric: 'active_users', ...weekly });
      expect(people.data['total']).toBe(
        await rig.value(
          "SELECT MAX(people) FROM published_weeks WHERE dimension = 'total' AND week_start = '2026-02-02'",
        ),
      );
      const several = await call('query_metric', { metric: 'active_users' });
      expect(several.data).toMatchObject({ total: null, total_note: expect.stringMatching(/several times/) });

      const later = await ask({ from: '2026-02-09', until: '2026-02-22' });
      expect(later.words).toMatch(
        /^PRELIMINARY: 7 of 14 days are open \(not stored: 2026-02-16 to 2026-02-22\)/,
      );
      expect(failures).toEqual([]);
    });

    it('is refused everything that could be subtracted, with the weeks that exist', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createReportRig(database);
      const { call } = await connectAssistant(rig.place, { now: NOW, audience: 'team', minGroup: MIN_GROUP });
      const refused: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
        ['who spent most', { by: ['user'], top: 1 }],
        ['one person', { user: rig.users[0]?.id }],
        ['a day', { by: ['date'] }],
        ['a part of a week', { from: '2026-02-03', until: '2026-02-08' }],
        ['a month', { by: ['month'] }],
        ['a week that is not published', { from: '2026-02-16', until: '2026-02-22' }],
        ['a change', { compare: 'previous' }],
        ['two dimensions', { by: ['team', 'model'] }],
        ['a metric that is not published', { metric: 'new_users' }],
        ['a team of two', { team: 'tiny' }],
      ];
      for (const [question, given] of refused) {
        const { isRefused, words } = await call('query_metric', { metric: 'billable_tokens', ...given });
        expect([question, isRefused, words]).toEqual([
          question,
          true,
          expect.stringMatching(/^Refused: .* Instead: /),
        ]);
        expect([question, words]).toEqual([question, expect.stringContaining(WEEKS)]);
        expect(words).not.toContain('tiny');
      }
      const explained = await call('explain', { metric: 'billable_tokens', by: ['user'] });
      expect(explained.isRefused).toBe(true);
    });

    it('learns about weeks only, and where a number comes from', { tags: 'ci/rare' }, async () => {
      const rig = await createReportRig(database);
      const { call } = await connectAssistant(rig.place, { now: NOW, audience: 'team', minGroup: MIN_GROUP });
      const { data } = await call('coverage');
      expect(data['weeks']).toEqual(['2026-01-19', '2026-01-26', '2026-02-02', '2026-02-09']);
      expect(data['last_complete_export']).toBeNull();
      const listed = await call('list_metrics');
      expect(JSON.stringify(listed.data)).not.toContain('"user"');
      const { data: origin } = await call('explain', { metric: 'billable_tokens', by: ['team'] });
      expect(origin['tables']).toEqual(['published_weeks']);
      const rows = await rig.sql(String(origin['sql']));
      expect(rows.length).toBeGreaterThan(0);
    });
  });
});
