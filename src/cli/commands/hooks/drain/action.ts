import { drainHooks } from '../../../../../jobs/hooks-drain.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { warningsOf } from '../../../../hooks/drain/warnings.ts';
import type { Action } from '../../../program/command.ts';
import { escapeForTerminal } from '../../../text/escape.ts';
import { counted } from '../../../text/quantity.ts';

export const act: Action = async ({ settings, job, log, out }) => {
  const report = await drainHooks(settings, job);
  for (const warning of warningsOf(report)) log.write({ level: 'warn', event: 'drain', ...warning });
  out.show(report, () => {
    const known = report.events - report.stored;
    const others = known === 0 ? '' : `, ${counted(known, 'event')} known already`;
    return [`${counted(report.stored, 'event')} stored${others}, from ${escapeForTerminal(report.spool)}`];
  });
  return EXIT.ok;
};
