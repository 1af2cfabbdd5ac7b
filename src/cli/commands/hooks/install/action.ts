import { resolve } from 'node:path';
import { EXIT } from '../../../../core/exit-code.ts';
import { spoolOf } from '../../../../hooks/spool/location.ts';
import type { Action } from '../../../program/command.ts';
import { shellQuote } from '../../../text/shell.ts';
import { installHooks } from '../hooks-file.ts';

const TIMEOUT_SECONDS = { min: 1, max: 86_400 };

export const act: Action = async ({ flags, job, settings, directory, self, log, out }) => {
  const spool = spoolOf({ spool: settings.spool ?? null, warehouse: settings.warehouse, directory });
  const result = await installHooks({
    clock: job.clock,
    file: resolve(directory, flags.text('--file') ?? ''),
    events: flags.texts('--event'),
    command: flags.text('--command') ?? `${self()} hook --spool ${shellQuote(spool)}`,
    timeoutSeconds: flags.number('--timeout', TIMEOUT_SECONDS) ?? null,
    warn: (message, hint) => log.write({ level: 'warn', event: 'hooks', message, hint }),
  });
  out.show(result, () => result.lines);
  return EXIT.ok;
};
