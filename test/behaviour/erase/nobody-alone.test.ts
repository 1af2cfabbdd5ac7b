import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { answerMetric } from '../../../src/metrics/index.ts';
import { eraseFrom } from '../../support/erase/erase-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

async function figures(rig: Rig, by: readonly ('user' | 'month')[], metric = 'billable_tokens') {
  const warehouse = await open(rig.place);
  const orgId = (await rig.value<string>('SELECT min(org_id) FROM export_units')) ?? '';
  const { rows } = await answerMetric(warehouse, { metric, orgId, by });
  return new Map(rows.map((row) => [by.map((name) => row[name]).join(' '), row.value ?? 0]));
}

const sumOf = (values: Iterable<number>) => [...values].reduce((sum, value) => sum + value, 0);

onEachDatabase((database) => {
  describe('erased people', () => {
    test('are one group of the figures by user, and in no list of people', { tags: 'ci/rare' }, async () => {
      const rig = await createRig({ users: 12, reports: 1 }, { database });
      await rig.run();
      const users = await rig.column<string>('SELECT DISTINCT user_id FROM user_daily ORDER BY 1');
      const [before, active] = [await figures(rig, ['user']), await figures(rig, [], 'active_users')];
      const pseudonyms: string[] = [];
      for (const [index, user] of users.slice(0, 5).entries()) {
        const { certificate } = await eraseFrom(rig, { user });
        pseudonyms.push(...certificate.pseudonyms);
        const after = await figures(rig, ['user']);
        const name = index < 4 ? 'unassigned' : 'erased';
        const erased = sumOf(users.slice(0, index + 1).map((each) => before.get(each) ?? 0));
        expect(after.get(name)).toBeCloseTo(erased, 6);
        expect(after.size).toBe(users.length - index);
        expect(sumOf(after.values())).toBeCloseTo(sumOf(before.values()), 6);
      }
      expect(await figures(rig, [], 'active_users')).toEqual(active);
      expect([...(await figures(rig, ['month', 'user'])).keys()].join()).not.toContain('erased-');
      const daywalk = (...args: string[]) => daywalkInProcess(args, { env: { DAYWALK_WAREHOUSE: rig.path } });
      const out = tempFile('report.html');
      const printed = [
        await daywalk('metric', 'sessions', '--by', 'user', '--json'),
        await daywalk('people', 'missing', '--json'),
        await daywalk('people', 'list', '--json'),
        await daywalk('report', '--out', out, '--audience', 'managers'),
      ];
      for (const { code, stdout, stderr } of printed) {
        expect(code, stderr).toBe(0);
        for (const pseudonym of pseudonyms) expect(stdout).not.toContain(pseudonym);
      }
      const alone = await daywalk('metric', 'sessions', '--user', pseudonyms[0] ?? '');
      expect(alone.code).toBe(2);
      const page = readFileSync(out, 'utf8');
      for (const pseudonym of pseudonyms) expect(page).not.toContain(pseudonym);
    });
  });
});
