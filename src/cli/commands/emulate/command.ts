import { commonSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk emulate`: the service on this machine. */
export const emulate: Command = {
  name: 'emulate',
  summary: 'serves the whole API on this machine, with generated data',
  description:
    'Serves the whole API on a loopback port, with data that are generated from the seed. When it is ready, it prints ' +
    'one JSON line with url, apiKey and orgId. It serves until it is stopped.',
  uses: commonSettings,
  flags: [
    { syntax: '--port <port>', doc: 'TCP port; 0 chooses a free one (default: 0)' },
    { syntax: '--seed <number>', doc: 'the same seed gives the same data (default: 1)' },
    { syntax: '--users <number>', doc: 'number of people in the organization (default: 250)' },
    { syntax: '--reports <number>', doc: 'number of readiness reports (default: 120)' },
    {
      syntax: '--today <day>',
      doc: 'the current day, which has no data yet, YYYY-MM-DD (default: today, UTC)',
    },
    { syntax: '--api-key <key>', doc: 'the generated key to accept (default: derived from the seed)' },
    { syntax: '--rules <file>', doc: 'JSON file with faults to inject' },
    { syntax: '--quirks <file>', doc: 'JSON file with behaviours of the service to switch' },
    { syntax: '--latency-ms <ms>', doc: 'delay of every response (default: 0)' },
  ],
  examples: [
    {
      line: 'daywalk emulate --port 8080 --seed 7 --users 1000',
      does: 'an organization of 1,000 people on http://127.0.0.1:8080',
    },
    {
      line: 'daywalk emulate --port 8080 --api-key trial & DAYWALK_API_KEY=trial daywalk run --base-url http://127.0.0.1:8080',
      does: 'a complete export without the real service',
    },
  ],
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
