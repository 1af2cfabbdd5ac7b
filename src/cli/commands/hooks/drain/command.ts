import { EXIT } from '../../../../core/exit-code.ts';
import { drainSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks drain`: moves received events into the warehouse. */
export const hooksDrain: Command = {
  name: 'hooks drain',
  group: hooksGroup,
  summary: 'moves received hook events from the spool into the warehouse',
  description:
    'Moves received hook events from the spool into the table hook_events, each once, however often it is run or ' +
    'killed. daywalk run does the same every night. It may run beside a run, and beside receivers.',
  uses: drainSettings,
  flags: [{ syntax: '--json', doc: 'print the report as one JSON document' }],
  examples: [
    { line: 'daywalk hooks drain', does: 'what was received up to now is in the warehouse' },
    { line: 'daywalk hooks drain --json --warehouse w.db', does: 'how many events there were, for a script' },
  ],
  resultIsOutput: false,
  act: async ({ settings, job, flags, log, out }) => {
    const { drainHooks } = await import('../../../../../jobs/hooks-drain.ts');
    const { warningsOf } = await import('../../../../hooks/drain/warnings.ts');
    const { counted } = await import('../../../text/quantity.ts');
    const { escapeForTerminal } = await import('../../../text/escape.ts');
    const report = await drainHooks(settings, job);
    for (const warning of warningsOf(report)) log.write({ level: 'warn', event: 'drain', ...warning });
    if (flags.isOn('--json')) out.json(report);
    else {
      const known = report.events - report.stored;
      const others = known === 0 ? '' : `, ${counted(known, 'event')} known already`;
      out.print([
        `${counted(report.stored, 'event')} stored${others}, from ${escapeForTerminal(report.spool)}`,
      ]);
    }
    return EXIT.ok;
  },
};
