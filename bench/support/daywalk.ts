import { fileURLToPath } from 'node:url';
import type { RunReport } from '../../src/pipeline/events.ts';
import { type Finished, runNode } from './process.ts';
import type { Service } from './service.ts';

/** The compiled command line, as its users run it. */
export const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** Keeps every day unsettled, so that each run pulls it again. */
export const UNSETTLED = { DAYWALK_SETTLE_DAYS: '365' };

/** An export that has ended. */
export interface Exported extends Finished {
  readonly report: RunReport;
}

/** Runs `daywalk run` or `daywalk backfill` against a service as a process of its own. */
export async function runExport(
  service: Service,
  warehouse: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Exported> {
  const finished = await runNode(MAIN, [...args, '--json'], {
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
 * Passes an export on that had nothing to write.
 * @throws {Error} for one that wrote rows.
 */
export function expectNothingWritten(exported: Exported): Exported {
  if (exported.report.rowsWritten === 0 && exported.report.unitsDone > 0) return exported;
  throw new Error(`${exported.report.rowsWritten} rows of ${exported.report.unitsDone} units were written`);
}
