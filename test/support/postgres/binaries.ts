import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Installation folders of PostgreSQL, in addition to PATH; `*` matches any name. */
const FOLDERS = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/usr/local/pgsql/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
  '/opt/local/lib/postgresql*/bin',
  '/Applications/Postgres.app/Contents/Versions/*/bin',
];

/** The oldest supported version. */
export const MAJOR_MIN = 15;

export interface Installed {
  readonly folder: string;
  /** For example `16.3`. */
  readonly version: string;
}

/** Finds the newest supported installed PostgreSQL whose folder has these programs. */
export function newestInstalled(
  path: string,
  programs: readonly string[] = ['initdb', 'postgres'],
): Installed | undefined {
  return [...path.split(delimiter), ...FOLDERS.flatMap(expand)]
    .filter((folder) => programs.every((program) => existsSync(join(folder, program))))
    .map((folder) => ({ folder, version: versionIn(folder) }))
    .filter(({ version }) => Number.parseInt(version, 10) >= MAJOR_MIN)
    .toSorted((a, b) => Number.parseFloat(b.version) - Number.parseFloat(a.version))[0];
}

function expand(pattern: string): string[] {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return [pattern];
  const parent = before.slice(0, before.lastIndexOf('/'));
  const prefix = before.slice(parent.length + 1);
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(parent, name) + after);
}

/** Parses the version, for example `16.3`; `0` if there is none. */
function versionIn(folder: string): string {
  try {
    const said = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
    return /\(PostgreSQL\) ([\d.]+)/.exec(said)?.[1] ?? '0';
  } catch {
    // A build for another machine does not run here.
    return '0';
  }
}
