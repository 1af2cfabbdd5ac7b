import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { CANARY, CANARY_FORMS, CANARY_REST, Planter } from '../../support/privacy/canary.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-20');
const HASH: EmailPolicy = { mode: 'hash', salt: 'a long enough salt for the tests' };

function envWith(policy: EmailPolicy): Record<string, string> {
  return { DAYWALK_EMAILS: policy.mode, ...(policy.mode === 'hash' && { DAYWALK_EMAIL_SALT: policy.salt }) };
}

/** Small organizations have no hooks on most days. */
function withHooks(text: string): string {
  const hook = { event: 'Stop', matcher: 'm', command: 'c', count: 1 };
  return text.replaceAll('"hooks_by_event":[]', `"hooks_by_event":${JSON.stringify([hook])}`);
}

onEachDatabase((database) => {
  describe('an address in every text of the service, in every form that is recognized', () => {
    const policies = [HASH, { mode: 'drop' }] as const;
    testVariants(policies)('$mode: is in no byte that leaves the gate', async (policy) => {
      const rig = await archivedRig({ today, users: 8, reports: 3 }, database, { emails: policy });
      const service = await rewritingService(rig.emulator.url);
      const planter = new Planter(CANARY_FORMS);
      rig.emulator.setRules([
        {
          match: { stream: 'productivity', day: parseDay('2026-01-16') },
          action: { type: 'status', status: 400, detail: `no day for ${CANARY_FORMS.join(' ')}` },
        },
      ]);
      service.rewrite((text) => (text.startsWith('{"title"') ? text : planter.answer(withHooks(text))));
      const folder = tempDir();
      const spool = join(folder, 'spool');
      mkdirSync(spool);
      const event = { hook_event_name: 'Stop', session_id: CANARY, cwd: `/${CANARY}`, list: CANARY_FORMS };
      const record = { receivedAt: '2026-01-20T02:00:00.000Z', order: '1', text: JSON.stringify(event) };
      appendFileSync(join(spool, 'events.jsonl'), encodeRecord(record));
      writeFileSync(
        join(folder, 'people.csv'),
        `user_id,team,department,cost_center\nu_1,Team ${CANARY},x ${CANARY},${CANARY}\n`,
      );
      const env = {
        ...envOf(rig, { DAYWALK_BASE_URL: service.url, DAYWALK_APP_URL: service.url, ...envWith(policy) }),
        DAYWALK_ARCHIVE: rig.folder,
        DAYWALK_SPOOL: spool,
        DAYWALK_NOW: '2026-01-20T03:00:00Z',
        DAYWALK_LOG: 'json',
      };
      const call = (...argv: string[]) => daywalkInProcess(argv, { env, cwd: folder });
      const outputs: string[] = [];
      for (const argv of [
        ['run', '--json'],
        ['status', '--json'],
        ['people', 'load', 'people.csv', '--json'],
        ['status'],
        ['people', 'list'],
        ['metric', 'tool_invocations', '--by', 'tool'],
        ['quarantine', 'list'],
        ['archive', 'show', '--stream', 'tools', '--date', '2026-01-16'],
        ['verify'],
        ['report', '--out', 'report.html'],
        ['copy', '--to', 'copy.db'],
        ['backup', 'backup.db'],
        ['publish', '--sqlite', 'published.db'],
      ]) {
        const { stdout, stderr, code } = await call(...argv);
        expect(`${argv.join(' ')}: ${code === 2 ? stderr : ''}`).not.toMatch(/unknown|usage/);
        outputs.push(stdout, stderr);
      }
      expect(planter.planted).toBeGreaterThan(500);
      for (const table of [
        'tools_daily_by_tool',
        'tools_daily_by_hook',
        'user_daily',
        'readiness_report_criteria',
      ])
        expect(await rig.value(`SELECT COUNT(*) FROM ${table}`)).toBeGreaterThan(3);
      const { rig: replayed } = await rig.replayInto();
      const facts = 'SELECT stream, date, content_sha256 FROM export_units ORDER BY stream, date';
      const replayedUnits = (await replayed.sql(facts)).filter(
        ({ content_sha256: sha256 }) => sha256 !== null,
      );
      expect(replayedUnits.length).toBeGreaterThan(20);
      expect(await rig.sql(facts)).toEqual(expect.arrayContaining(replayedUnits));
      expect(outputs.join('\n')).toContain('productivity 2026-01-16');
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== 'people.csv')
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
      const texts = [...outputs, ...files];
      for (const text of texts) expect(CANARY_REST.exec(text)?.input.slice(0, 400) ?? null).toBeNull();
      const values = ['canary.qx', 'qx-secret', ...CANARY_FORMS.filter((form) => /^[\w=]+$/.test(form))];
      expect(await placesOf(values, { place: rig.place, archive: rig.folder, spool })).toEqual([]);
    });

    test('is found by this search if it was stored', async () => {
      const rig = await archivedRig({ today, users: 8, reports: 3 }, database);
      const service = await rewritingService(rig.emulator.url);
      const planter = new Planter(CANARY_FORMS);
      service.rewrite((text) => planter.answer(text));
      await rig.run({ settings: { baseUrl: service.url, appUrl: service.url } });
      const found = await placesOf(['canary.qx'], { place: rig.place, archive: rig.folder, spool: '' });
      expect(found.length).toBeGreaterThan(2);
    });
  });
});
