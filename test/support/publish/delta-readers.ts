import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The Python of an environment with delta-rs, Polars and DuckDB; null if none is named. */
export const DELTA_READERS = process.env['DAYWALK_DELTA_READERS'] ?? null;

/** Why tests are skipped without them. */
export const NO_DELTA_READERS =
  'no delta-rs, Polars and DuckDB for Python: scripts/ci-lake.sh installs them and runs these tests';

/** The rows of each query by reader. */
export type DeltaAnswers = Readonly<
  Record<string, Readonly<Record<string, readonly (readonly unknown[])[]>>>
>;

const RUN_MS_MAX = 280_000;

/** Asks the readers about Delta tables at versions; null is the newest one. `folder` takes the question and the answer. */
export async function askDeltaReaders(
  python: string,
  folder: string,
  request: {
    readonly lake: string;
    readonly versions: Readonly<Record<string, number | null>>;
    readonly queries: Readonly<Record<string, string>>;
  },
): Promise<DeltaAnswers> {
  const [question, answer] = [join(folder, 'question.json'), join(folder, 'answer.json')];
  writeFileSync(question, JSON.stringify(request));
  const { PATH, HOME, LANG } = process.env;
  await promisify(execFile)(python, [join(import.meta.dirname, 'delta-readers.py'), question, answer], {
    env: { PATH, HOME, LANG },
    cwd: folder,
    timeout: RUN_MS_MAX,
  });
  return JSON.parse(readFileSync(answer, 'utf8'));
}
