import { resolve } from 'node:path';
import { EXIT } from '../../../../core/exit-code.ts';
import type { Action } from '../../../program/command.ts';
import { removeHooks } from '../hooks-file.ts';

export const act: Action = async ({ flags, job, directory, out }) => {
  const result = await removeHooks({
    clock: job.clock,
    file: resolve(directory, flags.text('--file') ?? ''),
    events: flags.texts('--event'),
    command: flags.text('--command') ?? null,
  });
  out.show(result, () => result.lines);
  return EXIT.ok;
};
