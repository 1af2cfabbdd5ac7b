import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { copyWarehouse } from '../../../jobs/copy.ts';
import { verifyWarehouse } from '../../../jobs/verify.ts';
import { adopt } from '../../../jobs/warehouse.ts';
import { parseDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { eraseFrom, somebody } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { contextOf, createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-30');
const SMALL = { today, users: 12, reports: 4 };

onEachDatabase((database) => {
  test('a dry run counts what the erasure then changes, and changes nothing', async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run();
    const { user, email } = await somebody(rig);
    const before = await rig.digest();
    const counted = (await eraseFrom(rig, { user, isDryRun: true })).certificate;
    expect(await rig.digest()).toBe(before);
    expect(await rig.value('SELECT count(*) FROM erased')).toBe(0);
    const done = (await eraseFrom(rig, { email })).certificate;
    expect(done.rows).toEqual(counted.rows);
    expect(done.units).toBe(counted.units);
    expect(done.archive).toEqual(counted.archive);
    expect(done.pseudonyms).toHaveLength(2);
    expect(done).toMatchObject({ kind: 'person', interrupted: false });
  });

  test('an organization is removed, its runs are refused, and another one stays', async () => {
    const rig = await archivedRig({ ...SMALL, orgId: 'org_leaves' }, database);
    await rig.run();
    const third = await createRig({ ...SMALL, orgId: 'org_third', users: 5 }, { database });
    const { emulator } = third;
    const refused = await rig.run({ settings: { baseUrl: emulator.url, appUrl: emulator.url } });
    expect(refused.report.exitCode).toBe(5);
    const other = await createRig({ ...SMALL, orgId: 'org_stays', users: 5 }, { database });
    await rig.run({
      newOrganization: 'org_stays',
      settings: { apiKey: other.emulator.apiKey, baseUrl: other.emulator.url, appUrl: other.emulator.url },
    });
    const kept = () => rig.sql("SELECT * FROM export_units WHERE org_id = 'org_stays' ORDER BY stream, date");
    const before = await kept();
    const { certificate } = await eraseFrom(rig, { organization: 'org_leaves' });
    expect(certificate).toMatchObject({ kind: 'organization', org_id: 'org_leaves' });
    for (const table of ['export_units', 'user_daily', 'users', 'readiness_reports', 'export_runs'])
      expect(await rig.value(`SELECT count(*) FROM ${table} WHERE org_id = 'org_leaves'`), table).toBe(0);
    const named = "SELECT count(*) FROM export_state WHERE CAST(value AS TEXT) LIKE '%org_leaves%'";
    expect(await rig.value(named)).toBe(0);
    expect(await kept()).toEqual(before);
    const { report } = await rig.run();
    expect(report.exitCode).toBe(2);
    expect(JSON.stringify(report)).toContain('was erased on');
    expect(await rig.value("SELECT count(*) FROM export_units WHERE org_id = 'org_leaves'")).toBe(0);
    const { rig: copy } = await rig.replayInto();
    expect(await copy.column('SELECT DISTINCT org_id FROM export_units')).toEqual(['org_stays']);
  });

  test('the warehouse is verified, and no commit is counted as a restatement', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run();
    const { user } = await somebody(rig);
    const restated = await rig.value('SELECT count(*) FROM restatements');
    await eraseFrom(rig, { user });
    const report = await verifyWarehouse(
      rig.settings,
      { againstApi: 40 },
      { ...contextOf(today), observe: () => undefined },
    );
    expect(report.findings).toEqual([]);
    expect(await rig.value('SELECT count(*) FROM restatements')).toBe(restated);
    const [{ pseudonym, users } = { pseudonym: '', users: 0 }] = await rig.sql<{
      pseudonym: string;
      users: number;
    }>(
      "SELECT max(pseudonym) AS pseudonym, (SELECT count(*) FROM users) AS users FROM erased WHERE kind = 'user'",
    );
    expect(await rig.value('SELECT count(*) FROM users WHERE user_id = ?', pseudonym)).toBe(1);
    expect(users).toBe(await rig.value('SELECT count(DISTINCT user_id) FROM user_daily'));
  });
});

test('what is not clear is refused, and nothing is changed', { tags: 'ci/rare' }, async () => {
  const rig = await archivedRig(SMALL, sqlite);
  await rig.run();
  const { user, email } = await somebody(rig);
  const digest = await rig.digest();
  const refused = async (args: readonly string[], words: string) => {
    const env = {
      DAYWALK_WAREHOUSE: rig.path,
      DAYWALK_ARCHIVE: rig.folder,
      DAYWALK_NOW: `${today}T04:00:00Z`,
    };
    const { code, stderr } = await daywalkInProcess(['erase', ...args], { env });
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  };
  for (const word of [`${user}x`, 'data', 'atlas-4', 'code-review', 'auto-medium', '2026-01-20'])
    await refused(['--user', word], 'has no user with this ID');
  await refused(['--user', email], 'this looks like an address: pass it with --email');
  await refused(['--email', 'nobody@example.com'], 'has nothing of this person');
  await refused([], '--user or --email');
  await refused(['--user', user, '--email', email], 'one of them');
  await refused(['--user', ''], 'empty');
  await refused(['--user', user, '--organization', 'org_unknown'], 'org_unknown');
  await refused(['--user', user, '--certificate', rig.path], 'exists already');
  const elsewhere = { ...rig.settings, archives: [join(tempDir(), 'not-mounted')] };
  await expect(eraseFrom({ ...rig, settings: elsewhere }, { user })).rejects.toThrow(/is not there/);
  await rig.place.execute('UPDATE user_daily SET user_email = ? WHERE user_id <> ?', email, user);
  await refused(['--email', email], 'users have had this address');
  await rig.replay();
  expect(await rig.digest()).toBe(digest);
  expect(await rig.value('SELECT count(*) FROM erased')).toBe(0);
});

test('a damaged record in quarantine makes nobody of its ID, and no other user of an address that is stored', {
  tags: 'ci/rare',
}, async () => {
  const rig = await archivedRig(SMALL, sqlite);
  await rig.run();
  const { user, email } = await somebody(rig);
  const alone = 'alone@example.com';
  const records = [
    { user_id: '', user_email: alone },
    { user_id: 'unknown', user_email: alone },
    { user_id: 'other@example.com', user_email: alone },
    { user_id: '', user_email: email },
    { user_id: 'user_01SOMEBODYELSE', user_email: email },
  ];
  for (const [index, record] of records.entries())
    await rig.place.execute(
      "INSERT INTO quarantine (org_id, stream, date, record_sha256, reason, path, record, first_seen_at) SELECT org_id, 'users', '2026-01-20', ?, 'bad', 'data[1]', ?, '2026-01-21T00:00:00Z' FROM export_units LIMIT 1",
      ...[`${index}`, JSON.stringify(record)],
    );
  expect((await eraseFrom(rig, { email: alone })).certificate.pseudonyms).toHaveLength(1);
  expect((await eraseFrom(rig, { email })).certificate.pseudonyms).toHaveLength(2);
  expect(await placesOf([user, email, alone], { place: rig.place, archive: rig.folder, spool: '' })).toEqual(
    [],
  );
});

test('an erasure that is repeated says when it was done, for a person by ID or address and for an organization', {
  tags: 'ci/rare',
}, async () => {
  const rig = await archivedRig(SMALL, sqlite);
  await rig.run();
  const { user, email } = await somebody(rig);
  const organization = (await rig.value('SELECT org_id FROM export_units LIMIT 1')) ?? '';
  const erases = async (...args: readonly string[]) => {
    const env = {
      DAYWALK_WAREHOUSE: rig.path,
      DAYWALK_ARCHIVE: rig.folder,
      DAYWALK_NOW: `${today}T04:00:00Z`,
    };
    const { code, stdout } = await daywalkInProcess(['erase', ...args], { env });
    return `${code} ${stdout.split('\n')[0]}`;
  };
  const said = 'was erased on 2026-01-30; nothing was left to do';
  expect(await erases('--user', user)).toBe('0 one person was erased');
  expect(await erases('--user', user)).toBe(`0 one person ${said}`);
  expect(await erases('--email', email.toUpperCase())).toBe(`0 one person ${said}`);
  expect(await erases('--user', user, '--dry-run')).toBe(`0 one person ${said}`);
  expect(await erases('--user', `${user}x`)).toBe('2 ');
  expect(await erases('--organization', organization)).toBe('0 the organization was erased');
  expect(await erases('--organization', organization)).toBe(`0 the organization ${said}`);
});

test('a program that reads the file ends the erasure with 75, and a repetition completes it', {
  tags: 'ci/rare',
}, async () => {
  const rig = await archivedRig(SMALL, sqlite);
  await rig.run();
  const { user, email } = await somebody(rig);
  const reader = new Sqlite(rig.path, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM user_daily').get();
  await expect(eraseFrom(rig, { user })).rejects.toMatchObject({ exitCode: 75 });
  reader.close();
  const file = join(tempDir(), 'certificate.json');
  const { certificate } = await eraseFrom(rig, { user, certificate: file });
  expect(certificate).toMatchObject({ interrupted: false, kind: 'person' });
  expect(certificate.pseudonyms).toHaveLength(2);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(certificate);
  const searched = { place: rig.place, archive: rig.folder, spool: '', texts: [readFileSync(file, 'utf8')] };
  expect(await placesOf([user, email], searched)).toEqual([]);
});

onEachDatabase((database) => {
  test('an erasure that was interrupted before a run is completed after it, also in an archive that is not named', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run({ now: parseDay('2026-01-29') });
    const { user, email } = await somebody(rig);
    const spool = join(tempDir(), 'spool');
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    const stopped = eraseFrom(rig, { user }, { spool }, stop.signal);
    await expect(stopped).rejects.toThrow();
    expect(await rig.value("SELECT count(*) FROM export_state WHERE name = 'erasure'")).toBe(1);
    expect((await rig.run()).report.exitCode).toBe(0);
    // Somebody else is not reported as erased because this erasure is completed first.
    await expect(eraseFrom(rig, { user: `${user}x` }, { spool })).rejects.toThrow(/no user with this ID/);
    const searchedFirst = { place: rig.place, archive: rig.folder, spool };
    expect(await placesOf([user, email], searchedFirst)).toEqual([]);
    const repeated = await eraseFrom(rig, { user }, { spool });
    const [text = ''] = await rig.column('SELECT CAST(certificate AS text) FROM erased LIMIT 1');
    expect(JSON.parse(text)).toMatchObject({ interrupted: true });
    expect(repeated).toEqual({
      ...{ isDryRun: false, isRepeated: true, resumed: null },
      certificate: JSON.parse(text),
    });
  });

  test('an interrupted erasure that is repeated returns its certificate, also without the archive being named', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run();
    const { user, email } = await somebody(rig);
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(eraseFrom(rig, { user }, {}, stop.signal)).rejects.toThrow();
    const { certificate } = await eraseFrom(rig, { user }, { archives: [] });
    expect(certificate).toMatchObject({ interrupted: true });
    expect(await placesOf([user, email], { place: rig.place, archive: rig.folder, spool: '' })).toEqual([]);
  });

  test('records in quarantine that become equal are one record afterwards', { tags: 'ci/rare' }, async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run();
    const { user, email } = await somebody(rig);
    const [{ org_id: org } = { org_id: '' }] = await rig.sql<{ org_id: string }>(
      'SELECT org_id FROM export_units LIMIT 1',
    );
    for (const name of ['Ada', 'Ada L.']) {
      const record = JSON.stringify({ user_id: user, display_name: name });
      await rig.place.execute(
        "INSERT INTO quarantine (org_id, stream, date, record_sha256, reason, path, record, first_seen_at) VALUES (?, 'users', '2026-01-20', ?, 'bad', 'data[1]', ?, '2026-01-21T00:00:00Z')",
        ...[org, name, record],
      );
    }
    await rig.place.execute(
      "INSERT INTO schema_drift (org_id, stream, path, kind, sample, first_seen_on) VALUES (?, 'tools', 'data[].by_tool[].owner', 'unknown field', ?, '2026-01-20')",
      ...[org, `"${email}"`],
    );
    await eraseFrom(rig, { user });
    expect(await rig.value('SELECT count(*) FROM quarantine')).toBe(1);
    expect(await placesOf([user, email], { place: rig.place, archive: rig.folder, spool: '' })).toEqual([]);
  });

  test('records in quarantine without their text keep their digests, and none of them is lost', async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run();
    const { user } = await somebody(rig);
    const [org = ''] = await rig.column<string>('SELECT org_id FROM export_units LIMIT 1');
    for (const name of ['a', 'b'])
      await rig.place.execute(
        "INSERT INTO quarantine (org_id, stream, date, record_sha256, reason, path, record, first_seen_at) VALUES (?, 'tokens', '2026-01-20', ?, 'bad', ?, ?, '2026-01-21T00:00:00Z')",
        ...[org, name, `data[0].by_owner["${user}"].${name}`, '"[withheld]"'],
      );
    await eraseFrom(rig, { user });
    const left = await rig.place.query('SELECT record_sha256, path FROM quarantine ORDER BY record_sha256');
    expect(left.map(({ record_sha256 }) => record_sha256)).toEqual(['a', 'b']);
    expect(JSON.stringify(left)).not.toContain(user);
  });

  test('an archive that two warehouses share brings nobody back through a copy', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run();
    const { user, email } = await somebody(rig);
    const other = await database.migrated();
    const shared = { warehouse: other.location };
    const known = (await rig.value('SELECT warehouse_id FROM identity')) ?? '';
    await adopt({ ...rig.settings, ...shared }, known, { ...contextOf(today), wait: false });
    await rig.run({ settings: shared });
    await eraseFrom(rig, { user });
    // The list comes with the archive, and the rows of the other warehouse are swept before anything is pulled.
    await rig.run({ settings: shared });
    const copied = await copyWarehouse(
      { ...rig.settings, ...shared },
      { to: rig.path, replace: true, wait: false },
      { ...contextOf(today), observe: () => undefined },
    );
    expect(copied.exitCode).toBe(0);
    const searched = { place: rig.place, archive: rig.folder, spool: '' };
    expect(await placesOf([user, email], searched)).toEqual([]);
    expect(await placesOf([user, email], { ...searched, place: other })).toEqual([]);
  });
});
