import { randomUUID } from 'node:crypto';
import { lstat, open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { JobContext } from '../../core/clock.ts';
import { messageOf, UsageError } from '../../core/errors.ts';
import { hasCode, replaceFile } from '../../core/files.ts';
import type { RunEvent } from '../../pipeline/events.ts';
import type { Settings } from '../../settings/settings.ts';
import { keepOpen } from '../../warehouse/kept-open.ts';
import type { RoundListener } from '../perform-round.ts';
import { createMetrics, FIRST_BYTES, type NamedOrganizations } from './metrics.ts';

/** Everybody may read it: the collector runs as another user, and nothing in it is about a person. */
const FILE_MODE = 0o644;

/** Where to write the metrics, and what they are made from. */
export interface MetricsFileOptions {
  readonly path: string;
  readonly settings: Pick<Settings, 'warehouse'> & NamedOrganizations;
}

/**
 * Creates the listener that writes the metrics to a file at the end of each round, for the textfile collector of
 * node_exporter. A failure then is a warning: the data are stored, and the age of the file shows that it is stale.
 */
export function metricsFileListener(
  { path, settings }: MetricsFileOptions,
  { clock, observe }: Pick<JobContext<RunEvent>, 'clock' | 'observe'>,
): RoundListener {
  const metrics = createMetrics({ clock, settings: () => settings });
  return {
    end: async (report) => {
      await metrics.listener.end?.(report);
      const warehouse = keepOpen(settings.warehouse, { clock });
      try {
        await refuseForeignFile(path);
        await replaceFile(path, await metrics.text(warehouse), FILE_MODE);
      } catch (error) {
        observe({
          type: 'warning',
          message: `the metrics were not written: ${messageOf(error)}`,
          hint: 'the export itself is not affected; the next run writes them again',
        });
      } finally {
        await warehouse.close();
      }
    },
  };
}

/**
 * Makes sure that the metrics can be written, by creating a file beside it.
 * @throws {UsageError} if not, or if the path holds something other than metrics of Daywalk.
 */
export async function expectMetricsFile(path: string): Promise<void> {
  try {
    await refuseForeignFile(path);
    // The collector reads *.prom only.
    const probe = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
    await (await open(probe, 'wx', FILE_MODE)).close();
    await rm(probe, { force: true });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`write the metrics to ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'name a file in an existing folder that this user may write to',
    });
  }
}

/** @throws {UsageError} if the path is a link, a folder or a file that is not from Daywalk: none of them is replaced. */
async function refuseForeignFile(path: string): Promise<void> {
  const existing = await lstat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (existing === null || (existing.isFile() && (await beginsLikeMetrics(path)))) return;
  const kind = existing.isDirectory() ? 'is a folder' : 'is not a metrics file of daywalk';
  throw new UsageError(`write the metrics to ${path}: it ${kind}`, {
    hint: 'name a new file that ends in .prom, in the folder of the textfile collector',
  });
}

async function beginsLikeMetrics(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_BYTES.length), 0, FIRST_BYTES.length, 0);
    return buffer.toString('utf8', 0, bytesRead) === FIRST_BYTES.slice(0, bytesRead);
  } finally {
    await file.close();
  }
}
