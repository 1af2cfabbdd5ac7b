import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../migrations/sqlite', import.meta.url));
const BREAKPOINT = /--> statement-breakpoint\n?/g;

/** The statements that make a SQLite warehouse, as they are applied: every migration in order. */
export function schemaSql(): string {
  const files = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files
    .map((file) => `-- ${file}\n${statementsOf(readFileSync(join(FOLDER, file), 'utf8'))}`)
    .join('\n');
}

function statementsOf(migration: string): string {
  return migration
    .replace(BREAKPOINT, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n');
}
