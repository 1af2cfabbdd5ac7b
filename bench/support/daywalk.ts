import { fileURLToPath } from 'node:url';
import type { RunReport } from '../../src/pipeline/events.ts';
import { type Finished, runNode } from './process.ts';
import type { Service } from './service.ts';

/** The compiled command line. */
export const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** Keeps every day unsettled, so that each run pulls it again. */
export const UNSETTLED = { DAYWALK_SETTLE_DAYS: '365' };

/** A finished export. */
export interface Exported extends Finished {
  readonly report: RunReport;
}

/** Runs `daywalk run` or `daywalk backfill` in its own process. `main` is the command line of another build. */
export async function runExport(
  service: Service,
  warehouse: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  main = MAIN,
): Promise<Exported> {
  const finished = await runNode(main, [...args, '--json'], {
    env: {
      DAYWALK_API_KEY: service.apiKey,
      DAYWALK_BASE_URL: service.url,
      DAYWALK_WAREHOUSE: warehouse,
      DAYWALK_NOW: `${service.today}T03:00:00Z`,
      ...env,
    },
  });
  return { ...finished, report: JSON.parse(finished.stdout) };
}

/**
 * Returns an export that wrote nothing.
 * @throws {Error} if it wrote rows.
 */
export function expectNothingWritten(exported: Exported): Exported {
  if (exported.report.rowsWritten === 0 && exported.report.unitsDone > 0) return exported;
  throw new Error(`${exported.report.rowsWritten} rows of ${exported.report.unitsDone} units were written`);
}
