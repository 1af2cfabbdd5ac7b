import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { drainSpool } from '../../../src/hooks/index.ts';
import { appendDurably, encodeRecord } from '../../../src/hooks/spool.ts';
import { beginPassing, endPassing, noteLooser } from '../../../src/policy/noted-policy.ts';
import { openGate } from '../../../src/policy/policy.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { passAll } from '../../../src/sweep/sweep.ts';
import { withWarehouse } from '../../../src/warehouse/index.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { copy } from '../../support/copy/run-copy.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { EVENT } from '../../support/warehouse/hook-event-row.ts';

const today = parseDay('2026-01-24');
const SMALL = { today, users: 10, reports: 4 };
const HASH: EmailPolicy = { mode: 'hash', salt: 'a long enough salt for the tests' };
const DROP: EmailPolicy = { mode: 'drop' };

function envWith(policy: EmailPolicy): Record<string, string> {
  return { DAYWALK_EMAILS: policy.mode, ...(policy.mode === 'hash' && { DAYWALK_EMAIL_SALT: policy.salt }) };
}

/** A service that also writes addresses into names, commands and texts. */
function talkative(text: string): string {
  return text
    .replaceAll('"rationale":"', '"rationale":"ask ada@example.com: ')
    .replaceAll('"command":"', '"command":"mail ada@example.com; ')
    .replaceAll('"tool":"', '"tool":"ada@example.com ');
}

onEachDatabase((database) => {
  const exported = async (policy: EmailPolicy) => {
    const rig = await archivedRig(SMALL, database);
    const service = await rewritingService(rig.emulator.url);
    service.rewrite(talkative);
    const settings = { baseUrl: service.url, appUrl: service.url };
    const run = (emails: EmailPolicy) => rig.run({ settings: { ...settings, emails } });
    const env = {
      ...envOf(rig, { DAYWALK_BASE_URL: service.url, DAYWALK_APP_URL: service.url }),
      DAYWALK_ARCHIVE: rig.folder,
      DAYWALK_NOW: '2026-01-24T04:00:00Z',
    };
    const apply = (emails: EmailPolicy, ...flags: string[]) =>
      daywalkInProcess(['privacy', 'apply', ...flags], { env: { ...env, ...envWith(emails) } });
    const own = async (emails: EmailPolicy) => {
      const other = rigOver(rig.emulator, await database.migrated(), today);
      await other.run({ settings: { ...settings, emails } });
      return other.digest();
    };
    const load = async (people: string) => {
      const cwd = tempDir();
      writeFileSync(join(cwd, 'people.csv'), people);
      const loaded = await daywalkInProcess(['people', 'load', 'people.csv'], { env, cwd });
      expect(loaded.code, loaded.stderr).toBe(0);
    };
    const drain = async (prompt: string) => {
      const spool = tempDir();
      const text = JSON.stringify({ hook_event_name: 'UserPromptSubmit', session_id: 's-1', prompt });
      appendDurably(spool, encodeRecord({ receivedAt: '2026-01-24T02:00:00.000Z', order: '1-1', text }));
      const drained = await daywalkInProcess(['hooks', 'drain'], { env: { ...env, DAYWALK_SPOOL: spool } });
      expect(drained.code, drained.stderr).toBe(0);
    };
    await run(policy);
    return { rig, run, apply, own, load, drain };
  };

  describe('a stricter policy', () => {
    testVariants([HASH, DROP] as const)(
      '$mode: is applied to everything that is stored, as runs under it would have stored it',
      async (policy) => {
        const { rig, run, apply, own, load } = await exported({ mode: 'keep' });
        const kept = await rig.digest();
        const copied = database.place();
        await copy(rig.path, copied.location);
        await load('user_email,team,name,manager_email\nada@example.com,core,Ada Lovelace,eve@example.com\n');
        expect(await thrownBy(run(policy))).toMatchObject({ exitCode: 2, reason: 'policy-not-applied' });
        const refused = await apply(policy);
        expect(refused.code).toBe(2);
        expect(refused.stderr).toContain('pass --yes');
        const counted = await apply(policy, '--dry-run', '--json');
        expect(counted.code, counted.stderr).toBe(0);
        expect(await rig.digest()).toBe(kept);
        const applied = await apply(policy, '--yes', '--json');
        expect(applied.code, applied.stderr).toBe(0);
        expect(applied.stderr).toContain(`has applied the policy \\"${policy.mode}\\" to what is stored`);
        expect(applied.stderr).not.toContain('@example.com');
        const [before, after] = [counted, applied].map(({ stdout }) => JSON.parse(stdout));
        expect(after).toEqual({ ...before, dry_run: false });
        expect(after.rows).toMatchObject({
          user_daily: expect.any(Number),
          tools_daily_by_tool: expect.any(Number),
          people: 1,
        });
        const found = await placesOf(['ada@example', '@example.com', 'Lovelace'], {
          place: rig.place,
          archive: rig.folder,
          spool: '',
        });
        expect(found).toEqual([]);
        await copy(rig.path, copied.location, { replace: true });
        expect(await placesOf(['@example.com'], { place: copied, archive: '', spool: '' })).toEqual([]);
        // Pseudonyms of dropped addresses have the key of their warehouse.
        if (policy.mode === 'hash') expect(await rig.digest()).toBe(await own(policy));
        const { report } = await run(policy);
        expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
        expect(await rig.column("SELECT COUNT(*) FROM export_units WHERE state = 'doubted'")).toEqual([0]);
        const { rig: replayed } = await rig.replayInto({}, { emails: policy });
        if (policy.mode === 'hash') expect(await replayed.digest()).toBe(await rig.digest());
        expect(JSON.parse((await apply(policy, '--yes', '--json')).stdout)).toMatchObject({
          rows: {},
          units: 0,
        });
      },
    );

    test('is completed if it was interrupted when only unused bytes had the former values', async () => {
      const { rig, apply } = await exported({ mode: 'keep' });
      const [clock, signal] = [systemClock(), new AbortController().signal];
      await withWarehouse(rig.place.location, { clock, create: false }, async (warehouse) => {
        const killed = { ...warehouse, forgetDeleted: () => Promise.reject(new Error('killed')) };
        const gate = await openGate(warehouse, HASH);
        const lakes = { published: [], renewLakes: () => Promise.resolve([]) };
        const places = { archives: [], dropsDamaged: false, spool: '', ...lakes };
        const passing = passAll({ warehouse: killed, gate, ...places, clock, signal, isDryRun: false });
        await expect(passing).rejects.toThrow('killed');
      });
      expect((await apply(HASH, '--yes')).code).toBe(0);
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      expect(await placesOf(['ada@example', '@example.com'], searched)).toEqual([]);
    });

    test('is refused if people or events were stored under a looser one meanwhile, until it is applied', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, run, apply, load, drain } = await exported(HASH);
      const stores = [
        () => load('user_email,team\neve@example.com,core\n'),
        () => drain('ask eve@example.com'),
      ];
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      for (const store of stores) {
        await store();
        expect(await placesOf(['eve@example.com'], searched)).not.toEqual([]);
        expect(await thrownBy(run(HASH))).toMatchObject({ exitCode: 2, reason: 'policy-not-applied' });
        expect((await apply(HASH, '--yes')).code).toBe(0);
        expect(await placesOf(['eve@example.com'], searched)).toEqual([]);
        expect((await run(HASH)).report.exitCode).toBe(0);
      }
    });

    test('is not noted as applied if a drain that had begun before has stored events after it', async () => {
      const { rig } = await exported({ mode: 'keep' });
      const [spool, { signal }] = [tempDir(), new AbortController()];
      appendDurably(spool, encodeRecord({ receivedAt: '2026-01-24T02:00:00.000Z', order: '1', text: '{}' }));
      await withWarehouse(rig.path, { clock: systemClock(), create: false }, async (warehouse) => {
        const transact: typeof warehouse.transact = async (doing, ...steps) => {
          if (doing.startsWith('store hook events')) await beginPassing(warehouse, DROP);
          return warehouse.transact(doing, ...steps);
        };
        const options = { spool, warehouse: rig.path, emails: { mode: 'keep' } } as const;
        expect((await drainSpool({ ...warehouse, transact }, options, signal)).stored).toBe(1);
        await expect(endPassing(warehouse, DROP)).rejects.toMatchObject({ exitCode: 75 });
      });
    });

    test('is not noted as applied if something was stored under a looser one while it was applied', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, run, apply, drain } = await exported({ mode: 'keep' });
      await withWarehouse(rig.place.location, { clock: systemClock(), create: false }, async (warehouse) => {
        await beginPassing(warehouse, DROP);
        await noteLooser(warehouse, { emails: 'drop', users: 'keep' });
        await drain('ask eve@example.com');
        const repeat = { exitCode: 75, hint: 'repeat the command' };
        await expect(endPassing(warehouse, DROP)).rejects.toMatchObject(repeat);
      });
      expect(await thrownBy(run(DROP))).toMatchObject({ exitCode: 2, reason: 'policy-not-applied' });
      expect((await apply(DROP, '--yes')).code).toBe(0);
      const searched = { place: rig.place, archive: rig.folder, spool: '' };
      expect(await placesOf(['eve@example.com'], searched)).toEqual([]);
      expect((await run(DROP)).report.exitCode).toBe(0);
    });

    test('names the places that keep what it does not reach, and a lake that is away', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, apply } = await exported({ mode: 'keep' });
      const [away, there] = [join(tempDir(), 'away'), join(tempDir(), 'there')];
      const env = envOf(rig, {});
      for (const lake of [away, there])
        expect((await daywalkInProcess(['publish', '--delta', lake], { env })).code).toBe(0);
      rmSync(away, { recursive: true });
      const expected = [join(away, 'daywalk_versions.json')];
      for (const flag of ['--dry-run', '--yes'])
        expect(JSON.parse((await apply(HASH, flag, '--json')).stdout).published).toEqual(expected);
      expect((await apply(HASH, '--yes')).stdout).toContain(
        `not changed: the copy, backup or published files in ${away}`,
      );
    });

    test('of addresses alone takes no note of pseudonyms away', { tags: 'ci/rare' }, async () => {
      const { rig, run, apply } = await exported({ ...HASH, users: 'pseudonym' });
      const before = await rig.digest();
      const refused = await apply(DROP, '--yes');
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('have pseudonyms')]);
      expect(await rig.digest()).toBe(before);
      expect((await run({ ...HASH, users: 'pseudonym' })).report.exitCode).toBe(0);
    });

    test('a looser one needs no command, and is for what is pulled from then on', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, run } = await exported(HASH);
      const hashed = await rig.digest();
      expect((await run({ mode: 'keep' })).report.exitCode).toBe(0);
      expect(await rig.digest()).not.toBe(hashed);
      expect(await thrownBy(run(HASH))).toMatchObject({ exitCode: 2, reason: 'policy-not-applied' });
    });
  });

  describe('what an older gate has let through', () => {
    testVariants([HASH, DROP] as const)(
      '$mode: passes the present one before the next run stores anything, without a command or a doubt',
      { tags: 'ci/rare' },
      async (policy) => {
        const { rig, run, own } = await exported({ mode: 'keep' });
        // As an older program has left it: it dropped or hashed the columns of addresses only.
        await rig.place.execute("DELETE FROM export_state WHERE name = 'policy'");
        const { report, events } = await run(policy);
        expect(report.exitCode).toBe(0);
        expect(events.filter(({ type }) => type === 'warning')).toHaveLength(1);
        if (policy.mode === 'hash') expect(await rig.digest()).toBe(await own(policy));
        const searched = { place: rig.place, archive: rig.folder, spool: '' };
        expect(await placesOf(['ada@example', '@example.com'], searched)).toEqual([]);
        expect(await rig.column('SELECT COUNT(*) FROM restatements')).toEqual([0]);
        expect((await run(policy)).events.filter(({ type }) => type === 'warning')).toEqual([]);
      },
    );

    test('passes it also if hook events came before the first run', { tags: 'ci/rare' }, async () => {
      const rig = await archivedRig(SMALL, database);
      const warehouse = await open(rig.place);
      await storeHookEvents(warehouse, {
        orgId: '',
        rows: [{ ...EVENT, message: 'ask ada@example.com' }],
      });
      await rig.place.execute(
        `INSERT INTO export_state (org_id, name, value) VALUES ('', 'policy', '{"emails":"hash","gate":1}')`,
      );
      expect((await rig.run({ settings: { emails: HASH } })).report.exitCode).toBe(0);
      expect(await rig.column('SELECT message FROM hook_events')).toEqual([
        expect.stringMatching(/^ask [0-9a-f]{64}$/),
      ]);
    });

    test('of an erased person passes it under keep as well, and in a copy', { tags: 'ci/rare' }, async () => {
      const { rig, run } = await exported({ mode: 'keep' });
      const { email } = await somebody(rig);
      await eraseFrom(rig, { email });
      const copied = { place: database.place(), archive: '', spool: '' };
      const message = `联系${email}请回复`;
      await storeHookEvents(await open(rig.place), { orgId: '', rows: [{ ...EVENT, message }] });
      await rig.place.execute(
        `UPDATE export_state SET value = '{"emails":"keep","gate":2}' WHERE name = 'policy'`,
      );
      await copy(rig.path, copied.place.location);
      expect(await placesOf([email], copied)).not.toEqual([]);
      const { report, events } = await run({ mode: 'keep' });
      expect(report.exitCode).toBe(0);
      expect(events).toContainEqual(
        expect.objectContaining({ message: 'people who were erased are replaced in 1 rows now' }),
      );
      await copy(rig.path, copied.place.location);
      expect(await placesOf([email], copied)).toEqual([]);
      expect(await placesOf([email], { place: rig.place, archive: rig.folder, spool: '' })).toEqual([]);
    });

    test('is forgotten by a copy, too, once the source has let it pass the present one', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, run } = await exported({ mode: 'keep' });
      await rig.place.execute(
        `UPDATE export_state SET value = '{"emails":"hash","gate":1}' WHERE name = 'policy'`,
      );
      const copied = { place: database.place(), archive: '', spool: '' };
      await copy(rig.path, copied.place.location);
      expect(await placesOf(['@example.com'], copied)).not.toEqual([]);
      expect((await run(HASH)).report.exitCode).toBe(0);
      await copy(rig.path, copied.place.location);
      expect(await placesOf(['@example.com'], copied)).toEqual([]);
    });
  });
});
