import { DEMO_ORGANIZATION, runDemo } from '../../../../jobs/demo.ts';
import type { Action } from '../../program/command.ts';
import { withHints } from '../../remedies.ts';
import { renderDemo } from './screen.ts';

export const act: Action = async ({ flags, job, out, directory, log }) => {
  const message = `emulating a service with ${DEMO_ORGANIZATION.users} people and their history`;
  log.write({ level: 'info', event: 'demo', message });
  const result = await runDemo({ directory, keep: flags.isOn('--keep') }, job);
  const document = { ...result, report: withHints(result.report) };
  out.show(document, (frame) => renderDemo(result, frame), { afterLog: true });
  return result.report.exitCode;
};
