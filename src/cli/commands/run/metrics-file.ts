import { resolve } from 'node:path';
import type { RoundListener } from '../../../serve/perform-round.ts';
import type { CommandContext } from '../../program/command.ts';

/**
 * The listener that writes the metrics at the end, if the command line names a file for them.
 * @throws {UsageError} if the file could not be written.
 */
export async function metricsFileListeners(context: CommandContext): Promise<RoundListener[]> {
  const { flags, settings, directory, job } = context;
  const file = flags.text('--metrics-file');
  if (file === undefined) return [];
  // Loaded only if needed, because every run would wait for it.
  const { expectMetricsFile, metricsFileListener } = await import('../../../serve/metrics/metrics-file.ts');
  const path = resolve(directory, file);
  await expectMetricsFile(path);
  return [metricsFileListener({ path, settings }, job)];
}
