import { EXIT } from '../../../core/exit-code.ts';
import { ALL_SETTINGS } from '../../../settings/settings-table.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk config`: the settings in force. */
export const config: Command = {
  name: 'config',
  summary: 'every setting, its value and its source; secrets are not shown',
  description:
    'Prints every setting with its value and its source: flag, environment, .env in the working directory, or ' +
    'default. Secrets are not shown. Says everything that is wrong with them, and exits with 2 if something is.',
  uses: ALL_SETTINGS,
  flags: [{ syntax: '--json', doc: 'print one JSON document' }],
  examples: [
    { line: 'daywalk config', does: 'what daywalk run would use here and now' },
    { line: 'daywalk config --json | jq .settings.DAYWALK_WAREHOUSE', does: 'one setting, for a script' },
  ],
  acceptsUnsoundSettings: true,
  resultIsOutput: true,
  act: async ({ reading, flags, out }) => {
    const { renderConfig, configDocument } = await import('./screen.ts');
    const { terminal } = out;
    if (flags.isOn('--json')) out.json(configDocument(reading));
    else out.print(renderConfig(reading, { width: terminal.columns(), style: terminal.style }));
    return reading.problems.length === 0 ? EXIT.ok : EXIT.usage;
  },
};
