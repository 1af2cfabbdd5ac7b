import pLimit from 'p-limit';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { Value } from '../../../schema/row.ts';
import { canonicalText } from '../../../src/core/json-text.ts';
import { schemaName } from '../postgres/schemas.ts';
import { copyTemplate, locationOf, type TemplateCopy } from '../postgres/template.ts';
import type { Database, Foreign, Place } from './each-database.ts';
import { type CatalogColumn, relationsOf } from './relations.ts';

const { url: serverUrl, kind, description, prefix, template } = inject('postgres');

/** Warehouses in schemas of the PostgreSQL server that the suite found or started. */
export const postgres: Database = {
  name: 'PostgreSQL',
  missing: serverUrl === null ? description : null,
  oneSession: kind === 'PGlite' ? 'PGlite has one session for all connections' : null,
  place: () => postgresPlace(serverUrl ?? '', schemaName(prefix)),
  migrated: async () => {
    if (serverUrl === null || template === null) return postgres.place();
    const copy = await copyTemplate(serverUrl, template);
    const url = new URL(serverUrl);
    url.pathname = `/${encodeURIComponent(copy.database)}`;
    return postgresPlace(url.href, copy.schema, copy.remove, copy);
  },
};

const { DATE, TIMESTAMPTZ, BOOL, INT4, INT8, FLOAT8, NUMERIC, JSONB } = pg.types.builtins;

/** Parses each type into the value that SQLite would return. */
const PARSERS: Readonly<Record<number, (text: string) => Value>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  [INT4]: Number,
  [INT8]: Number,
  [FLOAT8]: Number,
  [NUMERIC]: Number,
  [DATE]: (text) => text,
  [TIMESTAMPTZ]: (text) => new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z')).toISOString(),
  [JSONB]: canonicalText,
};
const types = { getTypeParser: (oid: number) => PARSERS[oid] ?? ((text: string) => text) };

const COLUMNS = `
SELECT c.relname AS relation, c.relkind = 'v' AS is_view, a.attname AS name, a.attnotnull AS is_required,
  format_type(a.atttypid, a.atttypmod) || CASE WHEN o.collname = 'C' THEN ' COLLATE "C"' ELSE '' END AS type,
  array_position(i.indkey::int2[], a.attnum) + 1 AS pk
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation o ON o.oid = a.attcollation
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relkind IN ('r', 'v')
  AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
ORDER BY c.relname, a.attnum`;

/**
 * A place in a schema. When the test ends the schema is dropped, or `remove` its database.
 * @param copy its database, where that is a copy of a template.
 */
export function postgresPlace(
  url: string,
  schema: string,
  remove?: () => Promise<void>,
  copy?: TemplateCopy,
): Place {
  let shared: Promise<Connection> | undefined;
  const connection = () => {
    shared ??= connectTo(url, schema);
    return shared;
  };
  const disconnect = async () => {
    const before = shared;
    shared = undefined;
    await (await before)?.end();
  };
  onTestFinished(async () => {
    if (remove === undefined) {
      await (await connection()).execute(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(schema)} CASCADE`);
    }
    await disconnect();
    await remove?.();
  });
  const connect = async () => {
    const { end, ...foreign } = await connectTo(url, schema);
    onTestFinished(end);
    return foreign;
  };
  return {
    location: locationOf(url, { schema }),
    makeEmpty: async () => (await connection()).execute(`CREATE SCHEMA ${pg.escapeIdentifier(schema)}`),
    query: async (sql, ...values) => (await connection()).query(sql, ...values),
    execute: async (sql, ...values) => (await connection()).execute(sql, ...values),
    relations: async () => relationsOf(await (await connection()).query<CatalogColumn>(COLUMNS)),
    connect,
    keepOthersFromWriting: async () => {
      const own = await connect();
      await own.execute('BEGIN; LOCK TABLE export_units IN EXCLUSIVE MODE');
      return () => own.execute('COMMIT');
    },
    keep: async () => {
      await disconnect();
      return (await copy?.keep()) ?? null;
    },
    put: async (content) => {
      await disconnect();
      if ('database' in content) await copy?.replace(content);
    },
  };
}

interface Connection extends Foreign {
  end(): Promise<void>;
}

async function connectTo(url: string, schema: string): Promise<Connection> {
  const client = new pg.Client({ connectionString: url });
  // A test may end the connections of a server.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(
    `SET search_path = ${pg.escapeIdentifier(schema)}; SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'`,
  );
  // A client runs one statement at a time; tests may ask for several at once.
  const inTurn = pLimit(1);
  const send = (sql: string, values: Value[]) =>
    inTurn(() => client.query({ text: numbered(sql), values, types }));
  return {
    query: async <Row>(sql: string, ...values: Value[]) => (await send(sql, values)).rows as Row[],
    execute: async (sql, ...values) => void (await send(sql, values)),
    end: () => client.end(),
  };
}

/** Turns SQLite's `?` placeholders into `$1`, `$2`, …. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}
