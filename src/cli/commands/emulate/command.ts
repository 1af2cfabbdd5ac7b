import { commonSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk emulate`: the service on this machine. */
export const emulate: Command = {
  name: 'emulate',
  summary: 'serves the whole API on this machine, with made-up data',
  description:
    'Serves the whole API on a loopback port, with data that follow from the seed. When it listens it prints one ' +
    'JSON line with url, apiKey and orgId, and serves until it is stopped.',
  uses: commonSettings,
  flags: [
    { syntax: '--port <port>', doc: 'TCP port; 0 takes a free one (default: 0)' },
    { syntax: '--seed <number>', doc: 'the same seed gives the same data (default: 1)' },
    { syntax: '--users <number>', doc: 'people in the organization (default: 250)' },
    { syntax: '--reports <number>', doc: 'readiness reports (default: 120)' },
    { syntax: '--today <day>', doc: 'the day that is not over yet, YYYY-MM-DD (default: today, UTC)' },
    { syntax: '--api-key <key>', doc: 'the made-up key that it accepts (default: from the seed)' },
    { syntax: '--rules <file>', doc: 'faults to inject, as JSON' },
    { syntax: '--quirks <file>', doc: 'behaviours of the service to switch, as JSON' },
    { syntax: '--latency-ms <ms>', doc: 'time to wait before each answer (default: 0)' },
  ],
  examples: [
    {
      line: 'daywalk emulate --port 8080 --seed 7 --users 1000',
      does: 'a thousand people on http://127.0.0.1:8080',
    },
    {
      line: 'daywalk emulate --port 8080 --api-key trial & DAYWALK_API_KEY=trial daywalk run --base-url http://127.0.0.1:8080',
      does: 'a whole export without the service',
    },
  ],
  resultIsOutput: true,
  act: async (context) => {
    const { performEmulation } = await import('./action.ts');
    return performEmulation(context);
  },
};
