import { commonSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk demo`: an export without a key. */
export const demo: Command = {
  name: 'demo',
  summary: 'an export from an emulated service; needs no API key',
  description:
    'Emulates the service on this machine with 250 people and their history since 2026-01-14, exports it over TCP ' +
    'into daywalk-demo.db in the working directory, and prints example queries with their results. Needs no key and no ' +
    'network. Its log is pretty by default, even without a terminal.',
  uses: commonSettings,
  flags: {
    '--keep': 'continue with the daywalk-demo.db of an earlier demo instead of a new one',
    ...jsonFlag,
  },
  examples: {
    'daywalk demo': 'a new demo; takes about ten seconds',
    'daywalk demo --keep': 'a second run: settled days are not pulled again',
  },
  isForPeople: true,
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
