import { type Command, type CommandGroup, jsonFlag, usesOf } from '../program/command.ts';
import { EXPORT } from './export.ts';

/** `daywalk status`: what the warehouse holds. */
export const status: Command = {
  name: 'status',
  summary: 'what the warehouse holds and lacks, day by day',
  description:
    'Prints what the warehouse holds, up to yesterday: units by stream and state, holes, the oldest unsettled day, ' +
    'quarantine, the last runs and, on a terminal, a calendar of the days. Only reads the warehouse; sends nothing. ' +
    'A run is complete if it left nothing out: exit code 0, or 5 without a failed unit. Backfills do not count.',
  uses: usesOf('organizations', 'warehouse'),
  flags: {
    '--health':
      'print one line and exit with code 0 if a complete export of all streams ended within --max-age (default: 26) or a ' +
      'run is in progress, and no stream has fallen silent; with code 1 otherwise',
    '--max-age <hours>':
      'exit with code 4 unless a complete run ended within this time; with --health, the exit code is 1 instead',
    '--organization <name>':
      'only this organization, by its ID or its name in the organizations file; without --health',
    '--json': 'print one JSON document that includes every day',
  },
  examples: {
    'daywalk status': 'what is there, what is missing, and how recent it is',
    'daywalk status --health --max-age 26': 'a health check for a nightly job',
  },
  resultIsOutput: true,
  load: async () => (await import('../actions/status.ts')).statusAction,
};

/** `daywalk verify`: checks the content of the warehouse. */
export const verify: Command = {
  name: 'verify',
  summary: 'checks the stored rows against the ledger',
  description:
    'Recomputes the digest of every unit from the stored rows and compares it with the ledger. This finds flipped bytes, ' +
    'edited rows and deleted days. Also compares the endpoints with each other, day by day. The exit code is 5 for ' +
    'changed content, holes and differences from the service, 6 for a damaged file, and 4 for units that could not be ' +
    'pulled again. Inconsistent figures of the service are only warnings.',
  uses: usesOf(...EXPORT),
  flags: {
    '--against-api <units>':
      'also pull this many units of each organization again and compare them with the stored ones',
    '--organization <name>': 'verify only this organization, by its ID or its name in the organizations file',
    '--seed <number>': 'chooses the units to pull again (default: random)',
    '--json': 'print one JSON document that includes the findings',
  },
  examples: {
    'daywalk verify': 'checks the whole warehouse; sends nothing',
    'daywalk verify --against-api 20': 'also compares twenty units with the service',
  },
  resultIsOutput: true,
  load: async () => (await import('../actions/verify.ts')).verifyAction,
};

/** `daywalk digest`: checksums of the content of the warehouse. */
export const digest: Command = {
  name: 'digest',
  summary: 'a SHA-256 of each table and of the whole warehouse',
  description:
    'Computes a SHA-256 of each table and of the whole warehouse. It covers only the content: the same content has the ' +
    'same digest in SQLite and PostgreSQL, whichever runs stored it and in whichever order.',
  uses: usesOf('warehouse'),
  flags: { ...jsonFlag },
  examples: {
    'daywalk digest': 'the digests of the warehouse in daywalk.db',
    'test "$(daywalk digest --json --warehouse a.db)" = "$(daywalk digest --json --warehouse b.db)"':
      'whether two warehouses have the same content',
  },
  resultIsOutput: true,
  load: async () => (await import('../actions/status.ts')).digestAction,
};

/** `daywalk quarantine`. */
export const quarantineGroup: CommandGroup = {
  name: 'quarantine',
  summary: 'lists or accepts records that could not be stored',
};

/** `daywalk quarantine list`: the records that could not be stored. */
export const quarantineList: Command = {
  name: 'quarantine list',
  group: quarantineGroup,
  summary: 'lists the records that could not be stored, with the reasons',
  description:
    'Lists every quarantined record: its unit, the field in question, the reason, when it was first seen, and when it was ' +
    'accepted. Only reads the warehouse; sends nothing. --json also prints the records as they were received.',
  uses: usesOf('warehouse'),
  flags: { '--json': 'print one JSON document that includes the records themselves' },
  examples: {
    'daywalk quarantine list': 'what was quarantined, and why',
    'daywalk quarantine list --json > quarantine.json': 'the records, for a report',
  },
  resultIsOutput: true,
  load: async () => (await import('../actions/quarantine.ts')).listAction,
};

/** `daywalk quarantine accept`: known records no longer affect the exit code. */
export const quarantineAccept: Command = {
  name: 'quarantine accept',
  group: quarantineGroup,
  summary: 'accepts known records, so that they no longer affect the exit code',
  description:
    'Accepts quarantined records: they stay listed, but no longer affect the exit code of run and backfill. An accepted ' +
    'record that changes counts again. Every run still pulls the unit, and a record leaves the quarantine when the ' +
    'service returns a valid one. Sends nothing.',
  uses: usesOf('warehouse'),
  flags: {
    '--stream <name>': 'accept the records of this stream',
    '--date <day>': 'accept the records of this UTC day',
    '--all': 'accept every record',
    '--organization <name>':
      'of this organization only, by its ID or its name in the organizations file (default: of every one)',
    ...jsonFlag,
  },
  examples: {
    'daywalk quarantine accept --stream users --date 2026-03-02': 'accepts the records of one unit',
    'daywalk quarantine accept --all': 'accepts every record that is known today',
  },
  resultIsOutput: false,
  load: async () => (await import('../actions/quarantine.ts')).acceptAction,
};
