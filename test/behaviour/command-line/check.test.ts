import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { judgeSpace } from '../../../jobs/check.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { createOrganizationsRig } from '../../support/organizations/organizations-rig.ts';
import { roleAt } from '../../support/postgres/roles.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf, MAIN, startDaywalk } from '../../support/process/daywalk-process.ts';
import { requestsOf } from '../../support/rig/journal.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const small = { users: 6, reports: 2, today: '2026-01-20' } as const;

type Env = Readonly<Record<string, string>>;

interface Line {
  readonly name: string;
  readonly organization?: string;
  readonly state: string;
  readonly text: string;
  readonly remedy?: string;
  readonly exit_code?: number;
}

/** The instant at which emulated services start. */
function nowOf({ today }: Pick<Rig, 'today'>, aheadMs = 0): string {
  return new Date(Date.parse(`${today}T12:00:00Z`) + aheadMs).toISOString();
}

async function check(env: Env, ...flags: string[]) {
  const { code, stdout, stderr } = await daywalkInProcess(['check', '--json', ...flags], {
    env,
    cwd: tempDir(),
  });
  if (stdout === '') throw new Error(stderr);
  const { checks, exit_code } = JSON.parse(stdout) as { checks: Line[]; exit_code: number };
  expect(exit_code).toBe(code);
  const amiss = checks.filter(({ state }) => state === 'failed' || state === 'warning');
  // Whoever reads a line that is not fine learns what to do.
  expect(amiss.filter(({ remedy }) => remedy === undefined)).toEqual([]);
  return { code, checks, amiss, line: (name: string) => checks.find((each) => each.name === name) };
}

async function run(env: Env): Promise<number> {
  return (await daywalkInProcess(['run', '--json'], { env, cwd: tempDir() })).code;
}

/** A service, and a warehouse that does not exist yet, in a folder of its own. Nothing else listens on the ports. */
async function firstRig() {
  const rig = await createRig(small);
  const folder = tempDir();
  const fresh = rigOver(rig.emulator, sqlitePlace(join(folder, 'daywalk.db')), rig.today);
  return { rig: fresh, folder, env: envFor(fresh) };
}

function envFor(rig: Rig, more: Env = {}): Record<string, string> {
  return envOf(rig, {
    DAYWALK_NOW: nowOf(rig),
    DAYWALK_ATTEMPTS: '1',
    DAYWALK_LOG: 'pretty',
    DAYWALK_SERVE_LISTEN: '127.0.0.1:0',
    DAYWALK_DASHBOARD_LISTEN: '127.0.0.1:0',
    ...more,
  });
}

/** Names, sizes, times and bytes of everything in a folder. */
function contentOf(folder: string): unknown[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const { size, mtimeMs, mode } = statSync(path);
      return [
        name,
        size,
        mtimeMs,
        mode,
        statSync(path).isFile() ? readFileSync(path).toString('base64') : '',
      ];
    });
}

describe('a setup that is fine', () => {
  it('ends with 0 before the first run, after two requests, and leaves nothing', async () => {
    const { rig, folder, env } = await firstRig();
    const { code, amiss, line } = await check(env);
    expect([code, amiss]).toEqual([0, []]);
    expect(line('key')?.text).toBe(`it may read the analytics of ${rig.emulator.orgId}`);
    expect(line('warehouse')?.text).toContain('the first run creates it');
    expect(requestsOf(rig).map(({ path, query }) => [path.split('/').at(-1), query])).toEqual([
      ['activity', { startDate: '2026-01-19', endDate: '2026-01-19' }],
      ['maturity-level-reports', { limit: '1' }],
    ]);
    expect(readdirSync(folder)).toEqual([]);
    expect(await run(env)).toBe(0);
  });

  it('leaves warehouse and archive as they are, also the files beside them', async () => {
    const rig = await archivedRig(small, sqlite);
    await rig.run();
    const folder = join(rig.path, '..');
    const before = [contentOf(folder), contentOf(rig.folder)];
    const { code, amiss, line } = await check(envFor(rig, { DAYWALK_ARCHIVE: rig.folder }));
    expect([code, amiss]).toEqual([0, []]);
    expect(line('schema')?.text).toMatch(/^version \d+, as this program$/);
    expect(line('identity')?.text).toBe('the warehouse and the archive are those of the last run');
    expect([contentOf(folder), contentOf(rig.folder)]).toEqual(before);
  });

  it('sends no request with --offline, and says so', async () => {
    const { rig, env } = await firstRig();
    const { code, line } = await check({ ...env, DAYWALK_API_KEY: 'wrong' }, '--offline');
    expect(code).toBe(0);
    expect([line('key'), line('readiness'), line('clock')].map((each) => each?.state)).toEqual(
      Array.from({ length: 3 }, () => 'skipped'),
    );
    expect(requestsOf(rig)).toEqual([]);
  });

  it('sends at most three requests to a host, redirects included', { tags: 'ci/rare' }, async () => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      response.writeHead(302, { location: `${request.url}x` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { env } = await firstRig();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { line } = await check({ ...env, DAYWALK_BASE_URL: url });
    expect(line('key')).toMatchObject({
      state: 'skipped',
      text: 'not answered within 3 requests to this host',
    });
    expect(requests).toBe(3);
  });
});

/** What is wrong, how it comes to be, the line that tells it, and the exit code of a run. */
const FINDINGS: readonly (readonly [
  what: string,
  exitCode: number,
  line: RegExp,
  prepare: (setup: Awaited<ReturnType<typeof firstRig>>) => Promise<Env> | Env,
])[] = [
  ['a wrong key', 3, /^key answered 401/, ({ env }) => ({ ...env, DAYWALK_API_KEY: 'wrong-key' })],
  [
    'a key without the role',
    3,
    /^key answered 403/,
    ({ env, rig }) => ({ ...env, DAYWALK_API_KEY: rig.emulator.keys.member }),
  ],
  [
    'a service that is down',
    4,
    /^key ECONNREFUSED/,
    ({ env }) => ({ ...env, DAYWALK_BASE_URL: 'http://127.0.0.1:9' }),
  ],
  [
    'a host that is not the API',
    2,
    /^key answered 404/,
    ({ env }) => ({ ...env, DAYWALK_BASE_URL: `${env['DAYWALK_BASE_URL']}/other` }),
  ],
  ['no key', 2, /^key no API key is configured/, ({ env: { DAYWALK_API_KEY: _, ...env } }) => env],
  [
    'a wrong setting',
    2,
    /^settings DAYWALK_CONCURRENCY/,
    ({ env }) => ({ ...env, DAYWALK_CONCURRENCY: 'x' }),
  ],
  [
    'a bad organizations file',
    2,
    /^settings .*it is not JSON/,
    ({ env: { DAYWALK_API_KEY: _, ...env }, folder }) => {
      const file = join(folder, 'organizations.json');
      writeFileSync(file, '[{');
      return { ...env, DAYWALK_ORGANIZATIONS: file };
    },
  ],
  [
    'an absent folder',
    6,
    /^warehouse create .*ENOENT/,
    ({ env, folder }) => ({ ...env, DAYWALK_WAREHOUSE: join(folder, 'none', 'daywalk.db') }),
  ],
  [
    'a missing warehouse that must not be created',
    6,
    /^warehouse .*none may be created/,
    ({ env }) => ({ ...env, DAYWALK_CREATE: 'never' }),
  ],
  [
    'a folder in the place of the warehouse',
    2,
    /^warehouse .*is a folder/,
    ({ env, folder }) => ({ ...env, DAYWALK_WAREHOUSE: folder }),
  ],
  [
    'a file of another program',
    2,
    /^warehouse .*another program/,
    ({ env, rig }) => {
      new Sqlite(rig.path).exec('CREATE TABLE other (a)').close();
      return env;
    },
  ],
  [
    'a newer warehouse',
    2,
    /^warehouse .*has version \d+, this program \d+/,
    async ({ env, rig }) => {
      expect(await run(env)).toBe(0);
      const db = new Sqlite(rig.path);
      db.exec(`INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES ('x', 9999999999999)`);
      db.close();
      return env;
    },
  ],
  [
    'a foreign archive',
    6,
    /^identity .*expected/,
    async ({ env, folder }) => {
      const archive = join(folder, 'archive.db');
      expect(await run({ ...env, DAYWALK_ARCHIVE: archive })).toBe(0);
      return { ...env, DAYWALK_ARCHIVE: archive, DAYWALK_WAREHOUSE: join(folder, 'other.db') };
    },
  ],
  [
    'an archive that is not named any more',
    6,
    /^identity .*no archive is named/,
    async ({ env, folder }) => {
      expect(await run({ ...env, DAYWALK_ARCHIVE: join(folder, 'archive.db') })).toBe(0);
      return env;
    },
  ],
  [
    'a stricter policy that was not applied',
    2,
    /^emails .*stored under "keep"/,
    async ({ env }) => {
      expect(await run(env)).toBe(0);
      return { ...env, DAYWALK_EMAILS: 'drop' };
    },
  ],
  [
    'an archive that holds more of people than the policy keeps',
    2,
    /^archive the addresses in .*archive\.db are stored under "keep"/,
    async ({ env, folder }) => {
      const archived = { ...env, DAYWALK_ARCHIVE: join(folder, 'archive.db') };
      expect(await run(archived)).toBe(0);
      const rebuilt = {
        ...archived,
        DAYWALK_WAREHOUSE: join(folder, 'rebuilt.db'),
        DAYWALK_EMAILS: 'drop',
      };
      expect((await daywalkInProcess(['replay'], { env: rebuilt, cwd: tempDir() })).code).toBe(0);
      // Whoever reads an archive that has a log writes into the index of the log.
      new Sqlite(join(folder, 'archive.db')).exec('PRAGMA wal_checkpoint(TRUNCATE)').close();
      return rebuilt;
    },
  ],
  [
    'a clock that is an hour ahead',
    0,
    /^clock .*60 minutes ahead/,
    ({ env, rig }) => ({ ...env, DAYWALK_NOW: nowOf(rig, 3_600_000) }),
  ],
];

describe('a finding', () => {
  testVariants(FINDINGS)(
    'is %s, and the exit code is that of a run: %i',
    async (_, exitCode, told, prepare) => {
      const setup = await firstRig();
      const env = await prepare(setup);
      const before = contentOf(setup.folder);
      const { code, amiss } = await check(env);
      expect(amiss.map(({ name, text }) => `${name} ${text}`)).toContainEqual(
        expect.stringMatching(told.source.replace(/^\^(\w+) /, '^$1 .*')),
      );
      expect(code).toBe(exitCode);
      expect(contentOf(setup.folder)).toEqual(before);
      expect(await run(env)).toBe(exitCode);
    },
  );

  const isRoot = process.getuid?.() === 0;
  const PERSON = 65_533;

  it('is a folder where this user may not write', { tags: 'ci/rare' }, async () => {
    const { folder, env } = await firstRig();
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    const codes = [['check', '--offline'], ['run'], ['run', '--dry-run']].map((args) => {
      const as = isRoot ? { uid: PERSON, gid: PERSON } : {};
      return spawnSync(process.execPath, [MAIN, ...args], {
        cwd: '/',
        env: { ...env, TMPDIR: '/tmp' },
        ...as,
      }).status;
    });
    expect(codes).toEqual([6, 6, 6]);
  });

  it('is an older warehouse, which the next run upgrades', { tags: 'ci/rare' }, async () => {
    const { rig, env } = await firstRig();
    expect(await run(env)).toBe(0);
    const db = new Sqlite(rig.path);
    db.exec(
      'DELETE FROM "__drizzle_migrations" WHERE created_at = (SELECT max(created_at) FROM "__drizzle_migrations")',
    );
    db.close();
    // A dry run only reads, so it does not upgrade.
    expect((await daywalkInProcess(['run', '--dry-run'], { env, cwd: tempDir() })).code).toBe(2);
    const { code, line } = await check(env);
    expect([code, line('schema')]).toEqual([
      0,
      expect.objectContaining({
        state: 'warning',
        text: expect.stringMatching(/^version \d+: the next run upgrades it to \d+$/),
      }),
    ]);
  });

  it('is a port that another program holds, and not one that the service of this warehouse holds', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, env } = await firstRig();
    expect(await run(env)).toBe(0);
    const other = createServer((_, response) => void response.end('hello'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const held = await check({ ...env, DAYWALK_SERVE_LISTEN: taken });
    expect([held.code, held.line('serve')]).toEqual([
      0,
      expect.objectContaining({ state: 'warning', text: expect.stringContaining('the port is in use') }),
    ]);
    const service = startDaywalk(['serve'], { env, cwd: tempDir() });
    const url = await new Promise<string>((resolve) =>
      service.child.stdout?.once('data', (text) => resolve(String(text).trim())),
    );
    const listen = new URL(url).host;
    const own = await check({ ...env, DAYWALK_SERVE_LISTEN: listen });
    expect(own.line('serve')).toMatchObject({
      state: 'ok',
      text: `${listen} is held by the service of this warehouse`,
    });
    const elsewhere = await check({
      ...env,
      DAYWALK_SERVE_LISTEN: listen,
      DAYWALK_WAREHOUSE: join(tempDir(), 'new.db'),
    });
    expect(elsewhere.line('serve')).toMatchObject({ state: 'warning' });
    service.child.kill('SIGTERM');
    await service.ended;
    expect(rig.path).not.toBe('');
  });

  it('is a lack of space for what the next run is expected to store', () => {
    const space = { folder: '/data', newDays: 300, isLeast: false, needed: 60_000_000 };
    expect(judgeSpace({ ...space, free: 59_000_000 })).toMatchObject({ state: 'failed', exitCode: 6 });
    expect(judgeSpace({ ...space, free: 61_000_000 })).toMatchObject({ state: 'ok' });
  });

  it('ranks as in a run: the warehouse before the key', async () => {
    const { folder, env } = await firstRig();
    const amiss = { ...env, DAYWALK_API_KEY: 'wrong', DAYWALK_WAREHOUSE: join(folder, 'none', 'daywalk.db') };
    expect([(await check(amiss)).code, await run(amiss)]).toEqual([6, 6]);
  });
});

test('every organization of the file is checked with its own key', { tags: 'ci/rare' }, async () => {
  const rig = await createOrganizationsRig(['first', 'second', 'third'], sqlite);
  rig.writeKey('1.key', 'wrong-key');
  rmSync(join(rig.folder, '2.key'));
  const { stdout, code } = await rig.daywalk('check --json');
  const { checks } = JSON.parse(stdout) as { checks: Line[] };
  expect(
    checks
      .filter(({ name }) => name === 'key')
      .map(({ organization, state, exit_code }) => [organization, state, exit_code]),
  ).toEqual([
    ['first', 'ok', undefined],
    ['second', 'failed', 3],
    ['third', 'failed', 2],
  ]);
  expect(code).toBe(3);
  expect((await rig.run()).code).toBe(3);
});

test('the screen has a line for each check, a remedy below what is amiss, and secrets in none', async () => {
  const { env } = await firstRig();
  const { stdout, code } = await daywalkInProcess(['check'], {
    env: {
      ...env,
      DAYWALK_WAREHOUSE: '/none/daywalk.db',
      DAYWALK_PING_URL: 'https://hc.example.com/4f2a9c1e',
    },
    cwd: tempDir(),
  });
  expect(code).toBe(6);
  expect(stdout).toMatch(
    /^failed {3}warehouse {2}create \/none\/daywalk\.db: ENOENT.*\n +remedy: create the folder/m,
  );
  expect(stdout).toMatch(/^ok {7}pings {6}DAYWALK_PING_URL: valid, not called$/m);
  expect(stdout).toContain('check: 1 failure, 1 not looked at; exit code 6');
  expect(stdout).not.toContain('4f2a9c1e');
});

describe('a dry run', () => {
  it.each([
    ['a missing folder', 6, (folder: string) => ({ DAYWALK_WAREHOUSE: join(folder, 'none', 'daywalk.db') })],
    ['a warehouse that must not be created', 6, () => ({ DAYWALK_CREATE: 'never' })],
    ['no key', 2, () => ({ DAYWALK_API_KEY_FILE: '/none/key' })],
  ])('ends as a run would with %s: %i, without a request', async (_, exitCode, amiss) => {
    const { rig, folder, env } = await firstRig();
    const changed = { ...env, ...amiss(folder) };
    const { code, stderr } = await daywalkInProcess(['run', '--dry-run'], { env: changed, cwd: tempDir() });
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining('hint: ')]);
    expect([requestsOf(rig), readdirSync(folder)]).toEqual([[], []]);
  });

  it('says that the key was not tried', async () => {
    const { env } = await firstRig();
    const { code, stdout } = await daywalkInProcess(['run', '--dry-run'], {
      env: { ...env, DAYWALK_API_KEY: 'wrong' },
      cwd: tempDir(),
    });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('The key and the service were not tried: daywalk check does that.'),
    ]);
  });
});

onDatabase(postgres, () => {
  describe('on PostgreSQL', () => {
    const XMAX = 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next';

    it('a check makes no schema and no table, and uses no transaction ID', async () => {
      const rig = await createRig(small);
      const place = postgres.place();
      const fresh = rigOver(rig.emulator, place, rig.today);
      const env = envFor(fresh);
      const next = async () => (await place.query<{ next: string }>(XMAX))[0]?.next;
      // Other clients of the server use some now and then.
      await expect
        .poll(
          async () => {
            const before = await next();
            expect((await check(env)).amiss).toEqual([]);
            return before === (await next());
          },
          { timeout: 20_000 },
        )
        .toBe(true);
      expect(await place.relations()).toEqual([]);
      expect(await run(env)).toBe(0);
      expect((await check(env)).amiss).toEqual([]);
    });

    it('a role that may only read is told, with the exit code of a run', async () => {
      const rig = await createRig(small);
      const place = postgres.place();
      const owned = rigOver(rig.emulator, place, rig.today);
      expect(await run(envFor(owned))).toBe(0);
      const { role, place: reading, schema } = await roleAt(place);
      await place.execute(
        `GRANT USAGE ON SCHEMA ${schema} TO "${role}"; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO "${role}"`,
      );
      const amiss = envFor(owned, { DAYWALK_WAREHOUSE: reading.location });
      const { code, line } = await check(amiss);
      expect(line('warehouse')?.text).toContain('may not change the tables');
      expect([code, await run(amiss)]).toEqual([6, 6]);
    });

    it('a database that does not exist is told, with the exit code of a run', async () => {
      const rig = await createRig(small);
      const url = new URL(postgres.place().location);
      url.pathname = '/daywalk_none';
      const amiss = envFor(rig, { DAYWALK_WAREHOUSE: url.href });
      expect([(await check(amiss)).code, await run(amiss)]).toEqual([2, 2]);
    });
  });
});
