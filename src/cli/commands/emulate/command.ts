import { commonSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk emulate`: the service on this machine. */
export const emulate: Command = {
  name: 'emulate',
  summary: 'serves the whole API on this machine, with generated data',
  description:
    'Serves the whole API on a loopback port, with data generated from the seed. When it is ready, it prints one JSON ' +
    'line with url, apiKey and orgId. It runs until it is stopped.',
  uses: commonSettings,
  flags: {
    '--port <port>': 'TCP port; 0 chooses a free one (default: 0)',
    '--seed <number>': 'the same seed gives the same data (default: 1)',
    '--users <number>': 'number of people in the organization (default: 250)',
    '--reports <number>': 'number of readiness reports (default: 120)',
    '--today <day>': 'the current day, which has no data yet, YYYY-MM-DD (default: today, UTC)',
    '--api-key <key>': 'the generated key to accept (default: derived from the seed)',
    '--rules <file>': 'JSON file with faults to inject',
    '--quirks <file>': 'JSON file with behaviours of the service to switch',
    '--latency-ms <ms>': 'delay of every response (default: 0)',
  },
  examples: {
    'daywalk emulate --port 8080 --seed 7 --users 1000':
      'an organization of 1,000 people on http://127.0.0.1:8080',
    'daywalk emulate --port 8080 --api-key trial & DAYWALK_API_KEY=trial daywalk run --base-url http://127.0.0.1:8080':
      'a complete export without the real service',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
