/** What a fault leads to: retried · the run ends · set aside · warned of. */
export type Outcome = 'R' | 'A' | 'Q' | 'W';

/**
 * What holds whatever the fault does. D: in the end the content is that of an undisturbed run. P: in between only whole
 * units are stored. U: nothing changed. L: requests, time and memory stay within stated bounds. S: the key is nowhere.
 */
export type Invariant = 'D' | 'P' | 'U' | 'L' | 'S';

/** A fault that some test causes for real. The test carries the id in its name. */
export interface Fault {
  readonly id: string;
  readonly fault: string;
  /** What causes it. */
  readonly by: string;
  readonly outcome: readonly Outcome[];
  readonly invariants: readonly Invariant[];
  /** The exit code, where the fault decides it. */
  readonly exit?: number;
}

type Line = readonly [id: string, fault: string, by: string, then: string, exit?: number];

const LINES: readonly Line[] = [
  [
    'N1',
    'the connection is refused until the service is started',
    'a free port, an emulator that starts late',
    'R D',
  ],
  ['N2', 'the name of the host does not resolve', 'a name that cannot exist', 'R L', 4],
  ['N3', 'the connection is reset before any header', 'emulator: reset', 'R D'],
  ['N4', 'the body is cut after k bytes, for many k', 'emulator: cut, in three framings', 'R D'],
  ['N5', 'the request is never answered', 'emulator: hang', 'R L'],
  ['N6', 'the body comes a byte at a time', 'emulator: drip', 'R L'],
  ['N7', 'a kept connection is gone when it is used again', 'emulator: close after each answer', 'R D'],
  ['H1', 'a server error that passes', 'emulator: 500, 502, 503, 504', 'R D'],
  ['H2', 'too many requests, with every kind of Retry-After', 'emulator: 429', 'R L D'],
  ['H3', 'the key is wrong', 'emulator: 401', 'A U', 3],
  ['H4', 'the role is too low', 'emulator: 403', 'A U', 3],
  ['H5', 'the key is revoked in mid-run', 'emulator: 401 after some requests', 'A P D', 3],
  ['H6', 'one unit is refused', 'emulator: 400', 'A L', 4],
  ['H7', 'a captive proxy answers 200 with a web page', 'emulator: html', 'R U'],
  ['H8', 'a body without a length ends too early', 'a proxy that takes the length away', 'R D'],
  ['H9', 'headers that are too large, a status line that is none', 'emulator: oversized, malformed', 'R U'],
  ['P1', 'the body is no JSON, no UTF-8, or begins with a mark', 'emulator: spoil', 'R U'],
  ['P2', 'a record lacks what tells whose it is', 'emulator: patch', 'Q', 5],
  ['P3', 'fields, criteria and clients that nobody knows', 'emulator: quirks', 'W D'],
  ['P4', 'a number that is none, or none that can be kept', 'emulator: patch', 'Q', 5],
  ['P5', 'metrics and emails that are null, absent, or change', 'emulator: quirk and patch', 'D'],
  ['P6', 'a row of a day that was not asked for', 'emulator: patch', 'Q', 5],
  ['P7', 'answers about another organization', 'emulator: patch', 'A U', 5],
  ['P8', 'servers that differ by case, tool names with debris', 'emulator: patch', 'D'],
  ['P9', 'yesterday is not there yet', 'emulator: late batch', 'D'],
  ['P10', 'a past day is restated', 'emulator: revision', 'D'],
  ['P11', 'people, models, languages or a whole day go', 'emulator: revision', 'D'],
  ['G1', 'a cursor repeats, or leads in a circle', 'emulator: cursor', 'U L'],
  ['G2', 'there is more, and no cursor to it', 'emulator: cursor', 'U'],
  ['G3', 'an empty page with more behind it', 'emulator: quirk', 'D L'],
  ['G4', 'pages that overlap, alike or in conflict', 'emulator: quirk', 'W D'],
  ['G5', 'people come or go between two pages', 'emulator: revision within a walk', 'D'],
  ['G6', 'the limit of a page is ignored', 'emulator: page sizes', 'D'],
  [
    'G7',
    'reports in short pages, in no order, gone under the cursor',
    'emulator: quirks and revision',
    'D L',
  ],
  ['C1', 'midnight passes during the run', 'an injected clock', 'D'],
  ['C2', 'the machine stands in another time zone', 'TZ of a process', 'D'],
  ['C3', 'the clock is a day ahead', 'an injected clock', 'W D'],
  ['C4', 'the clock is behind the ledger', 'an injected clock', 'U'],
  ['C5', 'a range that does not exist', 'arguments', 'A', 2],
  ['X1', 'killed at any single write or sync', 'strace, or a counting layer', 'P D'],
  ['X2', 'killed at a random instant', 'SIGKILL by a timer', 'P D'],
  ['X3', 'asked to stop, also as the first process', 'SIGTERM, SIGINT, a namespace of processes', 'P D'],
  ['X4', 'the memory is used up', 'a small heap', 'P D'],
  ['X5', 'nobody reads the output, or its disk is full', 'a closed pipe, /dev/full', 'D'],
  ['S1', 'the disk is full', 'a limit to the size of files', 'A P D', 6],
  ['S2', 'a sync fails', 'strace', 'A D', 6],
  ['S4', 'the power fails: the log is cut after k bytes', 'a copy of the files', 'P'],
  ['S5', 'a byte of the file flips', 'a byte of the file', 'A', 6],
  ['S7', 'a warehouse of an older or a newer release', 'kept files', 'D', 2],
  ['S8', 'a file or folder that is read-only or missing', 'permissions, paths', 'A U', 6],
  ['S9', 'PostgreSQL ends the connections', 'pg_terminate_backend', 'D'],
  ['S10', 'the answer to COMMIT is lost', 'a proxy before PostgreSQL', 'D'],
  [
    'F3',
    'a role that may not use the schema, a schema that the search path leaves out',
    'roles of PostgreSQL',
    'A U',
    2,
  ],
  ['F4', 'a live connection reports a broken one behind it', 'a trigger that raises class 08', 'D L'],
  ['K1', 'two runs on one file', 'two processes', 'A D', 75],
  ['K2', 'the holder of the lock is killed', 'SIGKILL', 'P D'],
  ['K3', 'a reader keeps a transaction open', 'a second connection', 'W L'],
  ['K4', 'another program holds the database', 'a transaction that writes', 'A P D', 75],
  ['K5', 'several workers share one database', 'processes', 'D'],
  ['O1', 'a key that is missing, empty, broken, or open to others', 'environment, files', 'A W', 2],
  ['O2', 'an address that would give the key away, or is none', 'flags', 'A', 2],
  ['O4', 'two organizations in one warehouse', 'two emulators', 'D'],
  ['Z1', 'a redirect to another origin', 'emulator: redirect', 'A U', 4],
  ['Z2', 'a small body that unfolds to a huge one', 'emulator: gzip bomb', 'L'],
  ['Z3', 'a certificate that nobody vouches for', 'a TLS server', 'A', 4],
  ['Z4', 'the service repeats the key in what it answers', 'emulator: texts with the key', 'S'],
  ['F5', 'the clock is days ahead of the service', 'injected clock', 'W D'],
  ['Z5', 'names that a database, a terminal or a sheet might obey', 'emulator: patch', 'D'],
  [
    'F1',
    'a file with two names, or that is removed, moved or replaced in a run',
    'the file system',
    'A P D',
    6,
  ],
  ['L1', 'a well-formed answer about other days than the ones asked for', 'emulator: lies', 'U', 4],
  [
    'L2',
    'a batch that is days late, in or out of order, or in one stream alone; a settled day that is restated',
    'emulator: lies, revisions',
    'D',
  ],
  [
    'L3',
    'paging flags that contradict each other or are absent, pages that repeat, a walk without end',
    'emulator: lies, and a server of the test',
    'U L',
    4,
  ],
  [
    'L5',
    'all or most of what is stored is gone from the answer, or has become zero, also with --force',
    'emulator: lies, revision',
    'W U D',
    5,
  ],
  ['L4', 'days or users that a range leaves out', 'emulator: lies', 'D'],
  ['L6', 'a status of success that is no full answer', 'emulator: lies', 'U', 4],
  ['L7', 'fewer users than active users', 'emulator: lies', 'W D'],
  ['F2', 'a FIFO, folder or link where a file should be: key file, spool', 'file system', 'W L'],
];

const OUTCOMES: readonly Outcome[] = ['R', 'A', 'Q', 'W'];
const INVARIANTS: readonly Invariant[] = ['D', 'P', 'U', 'L', 'S'];

/** Every fault that the program is proven against. */
export const CATALOGUE: readonly Fault[] = LINES.map(([id, fault, by, then, exit]) => {
  const letters = then.split(' ');
  return {
    id,
    fault,
    by,
    outcome: OUTCOMES.filter((letter) => letters.includes(letter)),
    invariants: INVARIANTS.filter((letter) => letters.includes(letter)),
    ...(exit === undefined ? {} : { exit }),
  };
});
