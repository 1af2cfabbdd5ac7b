import type { Fault } from '../catalogue.ts';

/** Faults of responses: payloads, paging, restatements and lies. */
export const answerFaults: readonly Fault[] = [
  {
    id: 'P1',
    fault: 'the body is not JSON, not UTF-8, or begins with a byte order mark',
    cause: 'emulator: spoil',
    expect: 'the request is retried once, then the unit fails and changes nothing',
  },
  {
    id: 'P2',
    fault: 'a record lacks its identity',
    cause: 'emulator: patch',
    expect: 'the record is quarantined; the rest of the unit loads',
    exit: 5,
  },
  {
    id: 'P3',
    fault: 'unknown fields, criteria and client types',
    cause: 'emulator: quirks',
    expect: 'they are kept and reported; all known fields are exact',
  },
  {
    id: 'P4',
    fault: 'a metric that is not a number, or a number that cannot be stored',
    cause: 'emulator: patch',
    expect: 'the record is quarantined; no other number is stored instead',
    exit: 5,
  },
  {
    id: 'P5',
    fault: 'metrics and emails that are null, absent, or change',
    cause: 'emulator: quirk and patch',
    expect: 'they are stored as sent, NULL where absent',
  },
  {
    id: 'P6',
    fault: 'a row of a day that was not requested',
    cause: 'emulator: patch',
    expect: 'the row is quarantined and stored under neither day',
    exit: 5,
  },
  {
    id: 'P7',
    fault: 'answers about another organization',
    cause: 'emulator: patch',
    expect: 'the run ends before anything is written',
    exit: 5,
  },
  {
    id: 'P8',
    fault: 'MCP servers that differ only by case; tool names with parsing artifacts',
    cause: 'emulator: patch',
    expect: 'servers are merged with their spellings kept; artifacts are flagged',
  },
  {
    id: 'P9',
    fault: 'yesterday is not available yet',
    cause: 'emulator: late batch',
    expect: 'the day is awaited, not stored as zeros, and pulled again',
  },
  {
    id: 'P10',
    fault: 'a past day is restated',
    cause: 'emulator: revision',
    expect: 'the new content replaces the old one; the change is recorded',
  },
  {
    id: 'P11',
    fault: 'users, models, languages or a whole day disappear',
    cause: 'emulator: revision',
    expect: 'no ghost row stays',
  },
  {
    id: 'G1',
    fault: 'a cursor repeats or leads in a circle',
    cause: 'emulator: cursor',
    expect: 'the unit fails within bounded requests and changes nothing',
  },
  {
    id: 'G2',
    fault: 'more pages are announced without a cursor',
    cause: 'emulator: cursor',
    expect: 'the unit fails and changes nothing',
  },
  {
    id: 'G3',
    fault: 'an empty page with more pages behind it',
    cause: 'emulator: quirk',
    expect:
      'the walk continues, within bounded requests; the final content equals that of an undisturbed run',
  },
  {
    id: 'G4',
    fault: 'overlapping pages, identical or in conflict',
    cause: 'emulator: quirk',
    expect: 'duplicates merge; a conflict is reported and the last record counts',
  },
  {
    id: 'G5',
    fault: 'users appear or disappear between two pages',
    cause: 'emulator: revision within a walk',
    expect: 'a later pull brings the final content of the service',
  },
  {
    id: 'G6',
    fault: 'the page limit is ignored',
    cause: 'emulator: page sizes',
    expect: 'the pages concatenate to the same rows',
  },
  {
    id: 'G7',
    fault: 'reports in short pages, in any order, or deleted under the cursor',
    cause: 'emulator: quirks and revision',
    expect: 'all reports are stored, within bounded requests',
  },
  {
    id: 'L1',
    fault: 'a well-formed answer about other days than requested',
    cause: 'emulator: lies',
    expect: 'the unit fails and changes nothing',
    exit: 4,
  },
  {
    id: 'L2',
    fault:
      'a batch that is days late, in or out of order, or in one stream only; a settled day that is restated',
    cause: 'emulator: lies, revisions',
    expect: 'the copy equals the service in the end',
  },
  {
    id: 'L3',
    fault: 'paging flags that contradict each other or are absent, repeated pages, an endless walk',
    cause: 'emulator: lies, and a server of the test',
    expect: 'the unit fails within bounded requests and memory, and changes nothing',
    exit: 4,
  },
  {
    id: 'L4',
    fault: 'a range answer leaves out days or users',
    cause: 'emulator: lies',
    expect: 'what is missing is requested alone; nothing is lost',
  },
  {
    id: 'L5',
    fault: 'all or most stored rows are missing from the answer, or zero, also with --force',
    cause: 'emulator: lies, revision',
    expect: 'the loss is doubted and reported; stored rows stay until it is confirmed or accepted',
    exit: 5,
  },
  {
    id: 'L7',
    fault: 'fewer users than active users',
    cause: 'emulator: lies',
    expect:
      'the day does not settle at once, and a warning names it; the copy is corrected when the users arrive',
  },
];
