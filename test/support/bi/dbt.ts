import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The folder of the programs of dbt and MetricFlow; null if none is named. */
export const DBT = process.env['DAYWALK_DBT'] ?? null;

/** Why tests are skipped without dbt. */
export const NO_DBT = 'no dbt: scripts/ci-dbt.sh installs it and runs these tests';

/** The package in a folder, and where it reads and writes. */
export interface DbtProject {
  readonly directory: string;
  /** Its target, and where that is. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the package. */
  readonly vars: Readonly<Record<string, string>>;
}

/** What a program has printed, without colours. */
export interface Ran {
  readonly code: number;
  readonly output: string;
}

const RUN_MS_MAX = 280_000;
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

/** Runs a command of dbt in a project. Its exit code is not believed: read the output, and the files in `target`. */
export function dbt(project: DbtProject, command: readonly string[]): Promise<Ran> {
  return run(project, 'dbt', ['--no-use-colors', ...command, '--vars', JSON.stringify(project.vars)]);
}

/** Runs a program of the environment in a project. */
export function run({ directory, env }: DbtProject, program: string, args: readonly string[]): Promise<Ran> {
  const { PATH, HOME, LANG } = process.env;
  const base = { PATH, HOME, LANG, PGPASSWORD: '', DO_NOT_TRACK: '1', PYTHONWARNINGS: 'ignore' };
  return new Promise((resolve, reject) => {
    execFile(
      join(DBT ?? '', program),
      [...args],
      { cwd: directory, env: { ...base, ...env }, timeout: RUN_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        const output = stripVTControlCharacters(stdout + stderr);
        if (error === null) return resolve({ code: 0, output });
        if (typeof error.code === 'number') return resolve({ code: error.code, output });
        return reject(error);
      },
    );
  });
}
