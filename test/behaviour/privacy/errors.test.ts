import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { Planter } from '../../support/privacy/canary.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-24');

onEachDatabase((database) => {
  describe('an erased person', () => {
    test('does not come back with the error of a night, whatever it quotes', async () => {
      const rig = await archivedRig({ today, users: 10, reports: 2 }, database);
      await rig.run();
      const { user, email } = await somebody(rig);
      await eraseFrom(rig, { user });
      const detail = `the row of ${user} (${email}) is locked`;
      rig.emulator.setRules([
        {
          match: { stream: 'tools', day: parseDay('2026-01-22') },
          action: { type: 'status', status: 400, detail },
        },
        {
          match: { stream: 'users', day: parseDay('2026-01-23'), page: 2 },
          action: { type: 'status', status: 400, detail },
        },
      ]);
      const { report, events } = await rig.run({
        now: parseDay('2026-01-25'),
        force: true,
        settings: { rangeDays: 1 },
      });
      expect(report.unitsFailed).toBeGreaterThan(0);
      const errors = await rig.column<string>(
        'SELECT last_error FROM export_units WHERE last_error IS NOT NULL',
      );
      expect(errors.join()).toContain('is locked');
      const searched = {
        place: rig.place,
        archive: rig.folder,
        spool: '',
        texts: [JSON.stringify([report, events])],
      };
      expect(await placesOf([user, email], searched)).toEqual([]);
    });
  });

  describe('five erased people', () => {
    test('do not come back, in whatever text of the service their IDs and addresses stand', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig({ today, users: 14, reports: 2 }, database);
      await rig.run();
      const people = await rig.sql<{ id: string; email: string | null }>(
        'SELECT user_id AS id, MAX(user_email) AS email FROM user_daily GROUP BY user_id ORDER BY user_id LIMIT 5',
      );
      for (const { id } of people) await eraseFrom(rig, { user: id });
      const values = people.flatMap(({ id, email }) => (email === null ? [id] : [id, email]));
      const service = await rewritingService(rig.emulator.url);
      const planter = new Planter(values, ['user_id', 'user_email']);
      service.rewrite((text) => planter.answer(text));
      const settings = { baseUrl: service.url, appUrl: service.url };
      const { report, events } = await rig.run({ now: parseDay('2026-01-25'), force: true, settings });
      expect(planter.planted).toBeGreaterThan(300);
      expect(report.rowsWritten).toBeGreaterThan(100);
      const texts = [JSON.stringify([report, events])];
      expect(await placesOf(values, { place: rig.place, archive: rig.folder, spool: '', texts })).toEqual([]);
    });
  });

  describe('a cursor', () => {
    test('is in no message: the number of the page is', { tags: 'ci/rare' }, async () => {
      const rig = await archivedRig({ today, users: 4000, reports: 0 }, database);
      rig.emulator.setRules([
        {
          match: { stream: 'users', day: parseDay('2026-01-23'), page: 2 },
          action: { type: 'status', status: 400, detail: 'no' },
        },
      ]);
      const { report, events } = await rig.run({ streams: ['users'], settings: { rangeDays: 1 } });
      const [error] = await rig.column<string>(
        'SELECT last_error FROM export_units WHERE last_error IS NOT NULL',
      );
      const users = await rig.column<string>('SELECT DISTINCT user_id FROM user_daily');
      expect(error).toContain('cursor=page-2');
      expect(users.filter((id) => JSON.stringify([error, report, events]).includes(id))).toEqual([]);
    });
  });
});
