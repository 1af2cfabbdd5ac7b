import { readHealth, readStatus } from '../../../../jobs/status.ts';
import { RunError, UsageError } from '../../../core/errors.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import type { Action, CommandContext } from '../../program/command.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { describeStaleness, renderStatus } from './screen.ts';

/** A day between two nightly runs, and two hours for the run itself. */
const HEALTH_HOURS = 26;
const MAX_AGE_HOURS = { min: 1, max: 100_000 };

export const act: Action = async (context) => {
  const { settings, job, flags, out } = context;
  const hours = flags.number('--max-age', MAX_AGE_HOURS);
  if (flags.isOn('--health') && flags.text('--organization') !== undefined) {
    throw new UsageError('--health is about every organization', { hint: 'omit --organization' });
  }
  if (flags.isOn('--health')) return checkHealth(context, hours ?? HEALTH_HOURS);
  const status = await readStatus(settings, job, flags.text('--organization'));
  out.show(status, (frame) => renderStatus(status, frame));
  const stale = hours === undefined ? null : describeStaleness(status, hours);
  if (stale === null) return EXIT.ok;
  throw new RunError(stale, { hint: 'see the last runs above; daywalk run brings the warehouse up to date' });
};

async function checkHealth({ settings, job, flags, out }: CommandContext, hours: number): Promise<ExitCode> {
  const health = await readHealth(settings, job, hours);
  const { healthy, reason } = health;
  if (flags.isOn('--json')) out.line(health);
  else
    out.show(health, ({ redact }) => [
      escapeForTerminal(redact(`${healthy ? 'healthy' : 'unhealthy'}: ${reason}`)),
    ]);
  return healthy ? EXIT.ok : EXIT.unhealthy;
}
