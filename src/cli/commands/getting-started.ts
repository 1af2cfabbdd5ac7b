import { ALL_SETTINGS, settingsIn } from '../../settings/index.ts';
import { type Command, jsonFlag, usesOf } from '../program/command.ts';

/** Commands that need no warehouse. */
export const gettingStartedCommands: readonly Command[] = [
  {
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
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/config.ts')).configAction,
  },
  {
    name: 'schema',
    summary: 'the tables, views and columns, as markdown, JSON or SQL',
    description:
      'Prints the tables and views of a warehouse: as markdown for people, as JSON for tools, or as the SQL that creates ' +
      'them. Marks columns whose values must not be summed over days or groups.',
    uses: settingsIn('log'),
    flags: {
      '--format <format>': 'markdown, json or sql (default: markdown)',
      '--database <database>':
        'with --format sql: sqlite or postgres (default: sqlite; postgres with --distributed or --partitioned)',
      '--distributed <extension>':
        'with --format sql: citus adds statements that distribute the tables over several servers by organization',
      '--partitioned':
        'with --format sql: large tables are partitioned by month, for PostgreSQL above 100 GB',
    },
    examples: {
      'daywalk schema | less': 'all tables and views, with example queries',
      "daywalk schema --format json | jq -r '.tables[].columns[] | select(.additive == false).name'":
        'the columns that must not be summed',
      'daywalk schema --format sql --partitioned | psql -v ON_ERROR_STOP=1 "$URL"':
        'an empty warehouse whose large tables are partitioned by month',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/schema-and-bi.ts')).schemaAction,
  },
  {
    name: 'emulate',
    summary: 'serves the whole API on this machine, with generated data',
    description:
      'Serves every endpoint of the API with data generated from the seed, on loopback unless --host is given. When it is ready, it prints ' +
      'one JSON line with url, apiKey and orgId. A browser shows its state at this URL. It runs until it is stopped.',
    uses: usesOf('emulator'),
    flags: {
      '--port <port>': 'TCP port; 0 chooses a free one (default: 0)',
      '--host <host>': 'the address to listen on; beyond loopback it needs a token (default: 127.0.0.1)',
      '--seed <number>': 'the same seed gives the same data (default: 1)',
      '--users <number>': 'number of people in the organization (default: 250)',
      '--reports <number>': 'number of readiness reports (default: 120)',
      '--today <day>': 'the current day, which has no data yet, YYYY-MM-DD (default: today, UTC)',
      '--api-key <key>': 'the generated key to accept (default: derived from the seed)',
      '--rules <file>': 'JSON file with faults to inject',
      '--quirks <file>': 'JSON file with behaviours of the service to switch',
      '--realistic':
        'deviate from the specification where services of this kind are likely to: skipped criteria, ranges up to 100 days',
      '--days <file>': 'file with the rows of some days, a line of JSON for each day of a stream',
      '--archive <file>': 'the archive of runs, whose newest answers are served instead of generated rows',
      '--organization <org>': 'the ID of one organization of the archive, needed if it has several',
      '--latency-ms <ms>': 'delay of every response (default: 0)',
      '--journal <number>': 'requests that the journal keeps one by one, at most 100,000 (default: 1000)',
    },
    examples: {
      'daywalk emulate --port 8080 --seed 7 --users 1000':
        'an organization of 1,000 people on http://127.0.0.1:8080',
      'daywalk emulate --port 8080 --api-key trial & DAYWALK_API_KEY=trial daywalk run --base-url http://127.0.0.1:8080':
        'a complete export without the real service',
      'DAYWALK_EMULATE_TOKEN_FILE=token.txt daywalk emulate --host 0.0.0.0 --port 8080':
        'a service for other machines, which only the token can control',
    },
    resultIsOutput: true,
    load: async () => (await import('../actions/getting-started.ts')).emulateAction,
  },
  {
    name: 'demo',
    summary: 'an export from an emulated service; needs no API key',
    description:
      'Emulates the service on this machine with 250 people and their history since 2026-01-14, exports it over TCP ' +
      'into daywalk-demo.db in the working directory, and prints example queries with their results. Needs no key and no ' +
      'network. Its log is pretty by default, even without a terminal.',
    uses: usesOf(),
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
    load: async () => (await import('../actions/getting-started.ts')).demoAction,
  },
];
