import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../src/core/errors.ts';

/** A database that the warehouse can live in. */
export type Dialect = 'sqlite' | 'postgres';

const BREAKPOINT = /^--> statement-breakpoint\n?|--> statement-breakpoint\n?/gm;

/**
 * The statements that make a warehouse, as they are applied: every migration in order.
 * @throws {UsageError} when this version has none for the database.
 */
export function schemaSql(dialect: Dialect): string {
  const folder = fileURLToPath(new URL(`../migrations/${dialect}`, import.meta.url));
  if (!existsSync(folder))
    throw new UsageError(`this version has no migrations for ${dialect}`, { hint: 'try --dialect sqlite' });
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files
    .map((file) => `-- ${file}\n${statementsOf(readFileSync(join(folder, file), 'utf8'))}`)
    .join('\n');
}

function statementsOf(migration: string): string {
  return migration
    .replace(BREAKPOINT, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n');
}
