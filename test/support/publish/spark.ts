import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The Python of an environment with pyspark; null if none is named. */
export const SPARK = process.env['DAYWALK_SPARK'] ?? null;

/** Why tests are skipped without Spark. */
export const NO_SPARK = 'no Spark: scripts/ci-spark.sh installs it and runs these tests';

/** What Spark finds in a lake. */
export interface SparkAnswer {
  /** The type of each column by table. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The rows of each query. */
  readonly rows: Readonly<Record<string, readonly (readonly unknown[])[]>>;
  /** How Spark has executed each query. */
  readonly plans: Readonly<Record<string, string>>;
  /** How many files each query has opened. */
  readonly files: Readonly<Record<string, number>>;
}

/** Tables to read, and queries over them by name. */
export interface SparkRequest {
  readonly lake: string;
  readonly tables: readonly string[];
  readonly queries: Readonly<Record<string, string>>;
}

const RUN_MS_MAX = 280_000;

/** Asks Spark about a lake, in one session. `folder` takes the question and the answer. */
export async function askSpark(python: string, folder: string, request: SparkRequest): Promise<SparkAnswer> {
  const [question, answer] = [join(folder, 'question.json'), join(folder, 'answer.json')];
  writeFileSync(question, JSON.stringify(request));
  const { PATH, HOME, LANG, JAVA_HOME } = process.env;
  await promisify(execFile)(python, [join(import.meta.dirname, 'spark-reader.py'), question, answer], {
    env: { PATH, HOME, LANG, JAVA_HOME, PYSPARK_PYTHON: python, SPARK_LOCAL_IP: '127.0.0.1' },
    cwd: folder,
    timeout: RUN_MS_MAX,
  });
  return JSON.parse(readFileSync(answer, 'utf8'));
}
