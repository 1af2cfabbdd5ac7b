// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { parseTarget } from '../../../src/warehouse/postgres/target.ts';
import { migrationsFor } from '../../../src/warehouse/schema-version.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { selfSigned } from '../../support/network/certificates.ts';
import { postgresProxy } from '../../support/postgres/proxy.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** A place behind a server that speaks TLS only, by the name of the host and more parameters. */
async function secured(place: Place, tls: { key: string; cert: string }, host: string, parameters: string) {
  const proxy = await postgresProxy(place.location, { tls });
  const url = new URL(proxy.url);
  url.hostname = host;
  return { ...place, location: `${url.href}&${parameters}` };
}

describe('the URL of a warehouse', () => {
  it('is shown without its password and certificate paths', () => {
    const { location } = parseTarget(
      'postgres://me:p%40ss@db.example.com:6432/daywalk?schema=a&sslmode=verify-full&password=x',
    );
    expect(location).toBe('postgres://me@db.example.com:6432/daywalk?schema=a');
  });

  it.each([
    ['postgres://h/d?schema=', 'schema'],
    ['postgres://h/d?schema=pg_temp', 'schema'],
    ['postgres://h/d?schema=information_schema', 'schema'],
    [`postgres://h/d?schema=${'x'.repeat(64)}`, 'schema'],
    ['postgres://h/d?sslmode=on', 'sslmode'],
    ['postgres://h/d?sslmode=verify-ca', 'sslrootcert'],
  ])('%s is a usage error that names the remedy', async (url, what) => {
    const error = await thrownBy(Promise.resolve().then(() => parseTarget(url)));
    expect(error).toMatchObject({ name: 'UsageError', exitCode: 2, hint: expect.any(String) });
    expect(`${error}${Reflect.get(Object(error), 'hint')}`).toContain(what);
  });

  it.each([
    ['postgres://localhost/d', 1],
    ['postgres://127.0.0.1/d', 1],
    ['postgres:///d?host=/var/run/postgresql', 1],
    ['postgres://db.example.com/d', 2],
    ['postgres://db.example.com/d?sslmode=require', 1],
    ['postgres://db.example.com/d?sslmode=prefer', 2],
  ])('%s is tried in %i ways: TLS first if the server is remote', (url, ways) => {
    const { configs } = parseTarget(url);
    expect(configs).toHaveLength(ways);
    expect(configs.at(-1)?.connectionString).toContain(
      /sslmode=require/.test(url) ? 'sslmode=require' : 'sslmode=disable',
    );
  });
});

onDatabase(postgres, () => {
  describe('a schema', () => {
    it('of any name holds all tables, even if other schemas have tables with the same names', async () => {
      const place = postgres.place();
      const warehouse = await open(place);
      expect(await readOrganizationIds(warehouse)).toEqual([]);
      const names = (await place.relations()).map(({ name }) => name);
      expect(names).toContain('export_units');
      expect(names).toContain('coverage');
    });

    it('is created once when several workers start at the same time', { tags: 'ci/rare' }, async () => {
      needsSessions(postgres);
      const place = postgres.place();
      const opened = await Promise.all([1, 2, 3, 4].map(() => open(place)));
      for (const warehouse of opened) expect(await readOrganizationIds(warehouse)).toEqual([]);
      expect(await place.query('SELECT COUNT(*) AS n FROM "__drizzle_migrations"')).toEqual([
        { n: migrationsFor('postgres').length },
      ]);
    });
  });

  describe('TLS', () => {
    it('with verify-full connects to the host that the certificate names', {
      tags: 'ci/rare',
    }, async (context) => {
      needsSessions(postgres);
      const tls = selfSigned('localhost', 'DNS:localhost');
      if (tls === null) return context.skip('this machine has no openssl');
      const place = postgres.place();
      const parameters = `sslmode=verify-full&sslrootcert=${encodeURIComponent(tls.certPath)}`;
      const warehouse = await open(await secured(place, tls, 'localhost', parameters));
      expect(await readOrganizationIds(warehouse)).toEqual([]);
    });

    it.each([
      ['another host', 'verify-full', 'DNS:db.example.com'],
      ['nobody that is trusted', 'verify-full', null],
    ])('with a certificate of %s is refused by %s with exit code 6', async (_, mode, altNames) => {
      needsSessions(postgres);
      const tls = selfSigned('localhost', altNames ?? 'DNS:localhost');
      if (tls === null) return;
      const root = altNames === null ? '' : `&sslrootcert=${encodeURIComponent(tls.certPath)}`;
      const place = await secured(postgres.place(), tls, 'localhost', `sslmode=${mode}${root}`);
      expect(await thrownBy(open(place))).toMatchObject({ name: 'StorageError', exitCode: 6 });
    });

    it.each(['require', 'prefer'])(
      'with %s accepts any certificate',
      { tags: 'ci/variant' },
      async (mode) => {
        needsSessions(postgres);
        const tls = selfSigned('somebody', 'DNS:somebody');
        if (tls === null) return;
        const warehouse = await open(await secured(postgres.place(), tls, 'localhost', `sslmode=${mode}`));
        expect(await readOrganizationIds(warehouse)).toEqual([]);
      },
    );

    it('fails with require if the server has none, and is not requested with disable', async () => {
      needsSessions(postgres);
      const place = postgres.place();
      const proxy = await postgresProxy(place.location, {});
      const at = (mode: string) => ({ ...place, location: `${proxy.url}&sslmode=${mode}` });
      expect(await thrownBy(open(at('require')))).toMatchObject({ name: 'StorageError', exitCode: 6 });
      expect(await readOrganizationIds(await open(at('disable')))).toEqual([]);
      expect(await readOrganizationIds(await open(at('prefer')))).toEqual([]);
    });

    it('with a missing root certificate fails and names its path', async () => {
      const file = tempFile('no.pem');
      const url = `postgres://localhost/d?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
      expect(await thrownBy(open({ ...postgres.place(), location: url }))).toMatchObject({
        exitCode: 2,
        message: expect.stringContaining(file),
      });
    });
  });
});
