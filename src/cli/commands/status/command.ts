import { RunError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';
import { escapeForTerminal } from '../../text/escape.ts';

/** A night and two hours. */
const HEALTH_HOURS = 26;
const MAX_AGE_HOURS = { min: 1, max: 100_000 };

/** `daywalk status`: what the warehouse holds. */
export const status: Command = {
  name: 'status',
  summary: 'what the warehouse holds and lacks: units, holes, runs, calendar',
  description:
    'Prints what the warehouse holds, up to yesterday: units by stream and state, holes, the oldest unsettled day, ' +
    'quarantine, the last runs, and on a terminal a calendar of the days. Reads only; sends nothing. ' +
    'A complete run left nothing out: exit code 0, or 5 with no failed unit. Backfills do not count.',
  uses: warehouseSettings,
  flags: [
    {
      syntax: '--health',
      doc:
        'print one line, and exit with 0 where a complete export of all streams is younger than --max-age (26) or a run ' +
        'is under way, and no stream has fallen silent; with 1 otherwise',
    },
    {
      syntax: '--max-age <hours>',
      doc: 'exit with 4 unless a complete run ended within this time; with --health see there',
    },
    { syntax: '--json', doc: 'print one JSON document with every day' },
  ],
  examples: [
    { line: 'daywalk status', does: 'what is there, what is missing, and how fresh it is' },
    {
      line: 'daywalk status --health --max-age 26',
      does: 'a health check for a nightly job',
    },
  ],
  resultIsOutput: true,
  act: async ({ settings, job, flags, out }) => {
    if (flags.isOn('--health')) {
      const { readHealth } = await import('../../../../jobs/status.ts');
      const hours = flags.number('--max-age', MAX_AGE_HOURS) ?? HEALTH_HOURS;
      const health = await readHealth(settings, job, hours);
      const { healthy, reason } = health;
      if (flags.isOn('--json')) out.line(health);
      else out.print([escapeForTerminal(out.redact(`${healthy ? 'healthy' : 'unhealthy'}: ${reason}`))]);
      return healthy ? EXIT.ok : EXIT.unhealthy;
    }
    const { readStatus } = await import('../../../../jobs/status.ts');
    const { renderStatus, staleness } = await import('./screen.ts');
    const hoursMax = flags.number('--max-age', MAX_AGE_HOURS);
    const status = await readStatus(settings, job);
    const { terminal, redact } = out;
    const { style, isTerminal } = terminal;
    if (flags.isOn('--json')) out.json(status);
    else out.print(renderStatus(status, { width: terminal.columns(), style, isTerminal, redact }));

    const stale = hoursMax === undefined ? null : staleness(status, hoursMax);
    if (stale !== null)
      throw new RunError(stale, { hint: 'daywalk run brings it up to date; look at the last runs above' });
    return EXIT.ok;
  },
};
