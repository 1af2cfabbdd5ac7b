import { execFileSync } from 'node:child_process';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import Sqlite from 'better-sqlite3';
import { packageVersion } from '../../src/core/files.ts';

/** The machine of the measurements. */
export interface Machine {
  readonly processor: string;
  readonly processors: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** This machine and its installed software. */
export function thisMachine(postgres: string | undefined): Machine {
  const sqlite = new Sqlite(':memory:').prepare<[], string>('SELECT sqlite_version()').pluck().get();
  const versions = {
    daywalk: packageVersion(),
    node: process.versions.node,
    sqlite,
    postgresql: postgres,
    'sqlite-utils': versionOf('sqlite-utils'),
  };
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    system: `${platform()} ${release()} ${arch()}`,
    versions: Object.fromEntries(
      Object.entries(versions).flatMap(([name, version]) => (version === undefined ? [] : [[name, version]])),
    ),
  };
}

/** Load average of the last minute. */
export function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

function versionOf(command: string): string | undefined {
  try {
    return /\d[\w.]*/.exec(execFileSync(command, ['--version'], { encoding: 'utf8' }))?.[0];
  } catch {
    return undefined;
  }
}
