import { commonSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk demo`: the whole thing, without a key. */
export const demo: Command = {
  name: 'demo',
  summary: 'see it work without an API key, with an emulated service',
  description:
    'Emulates the service on this machine with 250 people and their history since 2026-01-14, exports it over TCP ' +
    'into daywalk-demo.db in the working directory, and shows what can be asked of it. Needs no key and no network. ' +
    'Its log is pretty by default, also where standard error is no terminal.',
  uses: commonSettings,
  flags: [
    { syntax: '--keep', doc: 'go on with the daywalk-demo.db of an earlier demo instead of a fresh one' },
    { syntax: '--json', doc: 'print one JSON document' },
  ],
  examples: [
    { line: 'daywalk demo', does: 'a fresh demo, about ten seconds' },
    { line: 'daywalk demo --keep', does: 'once more: what is settled is not pulled again' },
  ],
  isForPeople: true,
  resultIsOutput: false,
  act: async ({ flags, job, out, directory, log }) => {
    const { DEMO_ORGANIZATION, runDemo } = await import('../../../../jobs/demo.ts');
    const { renderDemo } = await import('./screen.ts');
    const message = `emulating a service with ${DEMO_ORGANIZATION.users} people and their history`;
    log.write({ level: 'info', event: 'demo', message });
    const result = await runDemo({ directory, keep: flags.isOn('--keep') }, job);
    const { terminal, redact } = out;
    if (flags.isOn('--json')) out.json(result);
    else out.present(renderDemo(result, { width: terminal.columns(), style: terminal.style, redact }));
    return result.report.exitCode;
  },
};
