import { ALL_SETTINGS } from '../../../settings/settings-table.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk config`: the effective settings. */
export const config: Command = {
  name: 'config',
  summary: 'every setting with its value and source; secrets are hidden',
  description:
    'Prints every setting with its value and its source: flag, environment, .env in the working directory, or ' +
    'default. Secrets are hidden. Lists every invalid setting, and exits with code 2 if there is one.',
  uses: ALL_SETTINGS,
  flags: { ...jsonFlag },
  examples: {
    'daywalk config': 'the settings that daywalk run would use here',
    'daywalk config --json | jq .settings.DAYWALK_WAREHOUSE': 'one setting, for a script',
  },
  acceptsInvalidSettings: true,
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
