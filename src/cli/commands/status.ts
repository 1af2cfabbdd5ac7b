import { RunError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Command } from '../command.ts';
import { warehouseSettings } from '../setting-groups.ts';

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
      syntax: '--max-age <hours>',
      doc: 'exit with 4 unless a complete run ended within this time, for health checks',
    },
    { syntax: '--json', doc: 'print one JSON document with every day' },
  ],
  examples: [
    { line: 'daywalk status', does: 'what is there, what is missing, and how fresh it is' },
    {
      line: 'daywalk status --max-age 26 --json > /dev/null',
      does: 'a container health check for a nightly job',
    },
  ],
  resultIsOutput: true,
  act: async ({ settings, job, flags, out }) => {
    const { readStatus } = await import('../../../jobs/status.ts');
    const { renderStatus, staleness } = await import('../screens/status.ts');
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
