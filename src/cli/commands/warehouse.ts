import { STREAMS } from '../../core/stream.ts';
import { type Command, type CommandGroup, jsonFlag, usesOf } from '../program/command.ts';

/** `daywalk archive`. */
const archiveGroup: CommandGroup = {
  name: 'archive',
  summary: 'checks, shows or thins out the archive of answers',
};

const personGroup: CommandGroup = {
  name: 'person',
  summary: 'answers what is held about somebody',
};

const personFlags = {
  '--user <id>': 'the user ID of the person',
  '--email <address>': 'an email address of the person, if the user ID is not known',
  '--organization <name>': 'the organization of the person, by its ID or its name (default: the only one)',
} as const;

/** Commands that back up, copy, rebuild or erase a whole warehouse, or care for the archive beside it. */
export const warehouseCommands: readonly Command[] = [
  {
    name: 'upgrade',
    summary: 'brings the warehouse to the schema of this version',
    description:
      'Commands that only read never change a warehouse, and refuse one of another version. This command upgrades it, in one ' +
      'transaction, after a backup with --backup. Commands that write, such as daywalk run, upgrade it too, and say so. An older ' +
      'version of Daywalk refuses the upgraded warehouse.',
    uses: usesOf('warehouse'),
    flags: {
      '--backup <file>': 'back up into this SQLite file first, with the schema that the warehouse has',
      '--dry-run': 'say what would be done; change nothing',
      ...jsonFlag,
    },
    examples: {
      'daywalk upgrade --dry-run': 'the version of the warehouse, and that of this program',
      'daywalk upgrade --backup before-upgrade.db': 'a backup, then the upgrade',
    },
    isForPeople: true,
    resultIsOutput: false,
    load: async () => (await import('../actions/warehouse.ts')).upgradeAction,
  },
  {
    name: 'backup',
    summary: 'backs up the warehouse, and the archive, into one file each, while runs go on',
    description:
      'Writes one state of the whole warehouse, of SQLite or PostgreSQL, as one SQLite file: every table, compared with what was ' +
      'read, readable for its owner only. The file is put in place at once. For a folder, each backup gets a file with its instant ' +
      'in the name, and older ones of this warehouse are removed; a name with a slash at its end is a folder that may not exist ' +
      'yet. With --with-archive, the archive follows beside it, and the two restore as a pair.',
    uses: usesOf('warehouse', 'archive'),
    operands: { '<path>': 'the file to write, or a folder' },
    flags: {
      '--keep <number>': 'how many backups of this warehouse stay in a folder (default: 14)',
      '--with-archive': 'back up the archive too; its file ends with .archive.db',
      ...jsonFlag,
    },
    examples: {
      'daywalk backup /mnt/backup/daywalk/': 'a file with the instant in its name; the last 14 stay',
      'daywalk backup /mnt/backup/daywalk/ --with-archive --archive /var/lib/daywalk/archive.db --keep 30':
        'warehouse and archive, for a month',
      'daywalk backup before-upgrade.db': 'one file',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/warehouse.ts')).backupAction,
  },
  {
    name: 'restore',
    summary: 'restores a backup into a warehouse, and applies erasures since',
    description:
      'Fills the warehouse of --warehouse, in SQLite or PostgreSQL, from a backup; another warehouse in a SQLite file serves too. ' +
      'Whoever was erased since, as the archive or the list of --erasures knows, is not in the result, and addresses are stored as ' +
      '--emails says. Without an archive and a list, a warning says that erasures since are unknown, and the exit code is 5 if the ' +
      'backup knows of an earlier one. A warehouse with rows is refused without --replace. After an interruption, the same command ' +
      'resumes; until then no run begins. With --test, a temporary file is filled, verified and removed, and the warehouse only ' +
      'notes that this has succeeded.',
    uses: usesOf('warehouse', 'emails', 'archive', 'retention', 'erasures', 'spool'),
    operands: { '<file>': 'the backup' },
    flags: {
      '--replace': 'replace what is in the warehouse, and in the archive with --with-archive',
      '--with-archive': 'restore the archive beside the backup too, to the place of --archive',
      '--test': 'restore into a temporary file, verify and remove it',
      '--wait': 'wait for a run to end instead of exiting with code 75',
      ...jsonFlag,
    },
    examples: {
      'daywalk restore /mnt/backup/daywalk/daywalk-20261125T031500Z.db --warehouse daywalk.db --erasures /mnt/other-disk/daywalk-erasures':
        'a lost warehouse',
      'daywalk restore --test /mnt/backup/daywalk/daywalk-20261125T031500Z.db': 'whether that would work',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/warehouse.ts')).restoreAction,
  },
  {
    name: 'copy',
    summary: 'copies the warehouse with its ledger into another database',
    description:
      'Copies every table of the warehouse, including the ledger, between SQLite and PostgreSQL in either direction. Each ' +
      'day is copied whole. After an interruption, the next copy resumes; a repeated copy writes only what has changed. At ' +
      'the end, the digests of all tables are compared: exit code 5 if they differ. Runs may write to the source ' +
      'meanwhile, but not to the destination. Data that only the destination has is never lost without --replace. Whoever was ' +
      'erased since, as the destination, the archive or the list of --erasures knows, is not in the copy.',
    uses: usesOf('warehouse', 'archive', 'erasures'),
    flags: {
      '--to <location>': 'the destination: a SQLite path, or postgres://…; created if it does not exist',
      '--replace': 'compare every row, and delete from the destination what the source does not have',
      '--wait': 'wait for a run on the destination to end instead of exiting with code 75',
      ...jsonFlag,
    },
    required: ['--to'],
    mayHoldPassword: ['--to'],
    examples: {
      'daywalk copy --warehouse daywalk.db --to postgres://daywalk@db.example.com/analytics':
        'from SQLite to PostgreSQL; the password comes from PGPASSWORD or ~/.pgpass',
      'daywalk copy --warehouse postgres://daywalk@db.example.com/analytics --to daywalk.db': 'and back',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/warehouse.ts')).copyAction,
  },
  {
    name: 'replay',
    summary: 'rebuilds the warehouse from the archive, without a request',
    description:
      'Stores the newest committed answers of the archive again: rows, ledger and rollups. The digest of the result is that of ' +
      'the runs that wrote the archive. Days that are stored already are compared, and written only if they differ; what the ' +
      'warehouse has pulled later stays, with exit code 4. With --as-of, an empty warehouse gets what was committed by an ' +
      'instant. After an interruption, the same command resumes. Answers that were doubted are never replayed. What cannot be ' +
      'read in a damaged archive is left out and named, with exit code 6. Records in quarantine count as in a run: exit code 5. ' +
      'Workers on several machines have one archive each: name all of them.',
    uses: usesOf('organizations', 'warehouse', 'emails', 'archive', 'retention', 'erasures', 'spool'),
    flags: {
      '--from <day>': 'first day, YYYY-MM-DD; default: the first day of the service',
      '--until <day>': 'last day, YYYY-MM-DD; default: yesterday (UTC)',
      '--streams <list>': `streams, separated by commas: ${STREAMS.join(', ')}; default: all`,
      '--as-of <instant>':
        'what was committed by this instant, for example 2026-05-03T12:00:00Z; into an empty warehouse',
      '--wait': 'wait for a run to end instead of exiting with code 75',
      ...jsonFlag,
    },
    examples: {
      'daywalk replay --archive /var/lib/daywalk/archive.db --warehouse new.db': 'a lost warehouse, rebuilt',
      'daywalk replay --archive /var/lib/daywalk/archive.db --as-of 2026-05-03T12:00:00Z --warehouse may.db':
        'what the warehouse said on 3 May at noon (UTC)',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/warehouse.ts')).replayAction,
  },
  {
    name: 'adopt',
    summary: 'accepts once that the warehouse or the archive is not the one of the last run',
    description:
      'A run exits with code 6 if the warehouse or the archive is absent, is an older copy that lacks what nobody can pull again, or ' +
      'is one of two copies that have both been written. Put back what was there; or accept what is there with the ID that the run ' +
      'has named. It is accepted once: there is no flag that could stay in a crontab. Prints what is lost. Give the same warehouse ' +
      'and archive as the run.',
    uses: usesOf('warehouse', 'archive'),
    operands: { '<id>': 'the ID that the run has named; none: no archive is expected any more' },
    flags: { '--wait': 'wait for a run to end instead of exiting with code 75', ...jsonFlag },
    examples: {
      'daywalk adopt 6f9619ff-8b86-4011-b42d-00c04fc964ff': 'accepts what the last run has refused',
      'daywalk adopt none': 'runs go on without the archives that the warehouse knows',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/warehouse.ts')).adoptAction,
  },
  {
    name: 'archive verify',
    group: archiveGroup,
    summary: 'reads every answer and every object, and compares them with their checksums',
    description:
      'Checks every answer of the archive against its checksum, every object against its SHA-256, and every page of the file. Exit ' +
      'code 5 if something is damaged or missing, with the units that cannot be replayed. A run may write meanwhile.',
    uses: usesOf('warehouse', 'archive'),
    flags: { ...jsonFlag },
    examples: {
      'daywalk archive verify --archive /var/lib/daywalk/archive.db': 'after a copy to another disk',
      'daywalk archive verify --archive host-a.db --archive host-b.db --json': 'two archives, for a program',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/archive.ts')).verifyAction,
  },
  {
    name: 'archive show',
    group: archiveGroup,
    summary: 'what came about one day of a stream, and when',
    description:
      'Lists the archived answers about one day of a stream, oldest first: when each came, whether it was believed, and what ' +
      'became of it. With --rows, prints the rows of the newest committed one, as they were received, one JSON text after the ' +
      'other.',
    uses: usesOf('archive'),
    flags: {
      '--stream <name>': `one of ${STREAMS.join(', ')}`,
      '--date <day>': 'the UTC day; readiness has none',
      '--rows': 'print the rows of the newest committed answer instead',
      ...jsonFlag,
    },
    required: ['--stream'],
    examples: {
      'daywalk archive show --archive /var/lib/daywalk/archive.db --stream users --date 2026-03-02':
        'how often the users of a day came, and what was stored',
      'daywalk archive show --archive /var/lib/daywalk/archive.db --stream tokens --date 2026-03-02 --rows':
        'the row of that day as the service sent it',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/archive.ts')).showAction,
  },
  {
    name: 'archive prune',
    group: archiveGroup,
    summary: 'removes old answers that were replaced since',
    description:
      'Removes answers that are older than the given age and were replaced by then. The newest committed answer of each unit ' +
      'stays however old it is, and so do open doubts. A replay as of an instant before that age is refused afterwards. Runs ' +
      'may write the archive meanwhile.',
    uses: usesOf('warehouse', 'archive'),
    flags: {
      '--older-than <age>': 'the age in days or calendar months, for example 400d or 13mo',
      '--dry-run': 'remove nothing, and say what would be removed',
      ...jsonFlag,
    },
    required: ['--older-than'],
    examples: {
      'daywalk archive prune --archive /var/lib/daywalk/archive.db --older-than 400d':
        'keeps thirteen months of changes',
      'daywalk archive prune --archive /var/lib/daywalk/archive.db --older-than 400d --dry-run':
        'what that would remove',
    },
    resultIsOutput: true,
    load: async () => (await import('../actions/archive.ts')).pruneAction,
  },
  {
    name: 'privacy apply',
    group: { name: 'privacy', summary: 'what is kept of people' },
    summary: 'applies a stricter policy of addresses or users to everything that is stored',
    description:
      'After DAYWALK_EMAILS or DAYWALK_USERS was made stricter, everything that is stored passes that policy, without a request: the ' +
      'warehouse, its archive, and what a drain has left in the spool. What the policy does not keep goes for good, so take a ' +
      'backup first (daywalk backup); that backup, older ones, and copies keep it. Until then, runs and replays end with exit code 2. After an interruption, the same command resumes.',
    uses: usesOf('warehouse', 'emails', 'archive', 'erasures', 'spool'),
    flags: {
      '--dry-run': 'count what would change; change nothing',
      '--yes': 'do not ask; needed without a terminal',
      '--wait': 'wait for a run to end instead of exiting with code 75',
      ...jsonFlag,
    },
    examples: {
      'daywalk privacy apply --emails hash --dry-run': 'what would change',
      'daywalk privacy apply --emails hash --yes': 'hashes every address that is stored',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/erase.ts')).applyPolicyAction,
  },
  {
    name: 'retention',
    summary: 'removes what is older than it is to be kept',
    description:
      'Removes rows about people of days older than DAYWALK_RETAIN_USERS, hook events older than DAYWALK_RETAIN_EVENTS, the text of records in ' +
      'quarantine older than DAYWALK_RETAIN_QUARANTINE, and archived answers that were replaced longer ago than ' +
      'DAYWALK_RETAIN_ARCHIVE. Every run does the same, so this command is for a warehouse without runs, for a look before ' +
      'a shorter limit (--dry-run), and for the bytes in the files (--compact). Lakes of Delta tables are published again without what was removed, and without earlier versions. After an interruption, a repetition removes the rest.',
    uses: usesOf('warehouse', 'emails', 'archive', 'retention'),
    flags: {
      '--dry-run': 'count what would be removed; remove nothing',
      '--compact': 'write SQLite file and archive again, so that no byte of what was removed is left',
      '--wait': 'wait for a run to end instead of exiting with code 75',
      ...jsonFlag,
    },
    examples: {
      'DAYWALK_RETAIN_USERS=13mo daywalk retention --dry-run': 'what a limit of thirteen months would remove',
      'daywalk retention --compact': 'removes it, also from unused space in the files',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/archive.ts')).retentionAction,
  },
  {
    name: 'person show',
    group: personGroup,
    summary: 'says since when somebody is known and where, or when they were erased',
    description:
      'Prints the first and the last day of a person, and how many rows of each table, of the archive and of the spool name the ' +
      'person; or the day of the erasure. With addresses that are hashed, --email takes the address itself. Exits with code 2 ' +
      'for somebody unknown. Only reads.',
    uses: usesOf('warehouse', 'emails', 'archive', 'spool'),
    flags: { ...personFlags, ...jsonFlag },
    examples: {
      'daywalk person show --user user_123': 'what is held about this user',
      'daywalk person show --email ada@example.com --json': 'the same by address, for a script',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/erase.ts')).showPersonAction,
  },
  {
    name: 'person export',
    group: personGroup,
    summary: 'writes everything that is held about somebody to a file',
    description:
      'Answers a request for access: every row, archived row and line of the spool that names the person, as JSON, with its place ' +
      'and when it came. Other people in it are masked. The file must not exist; only its owner may read it. For somebody who was ' +
      'erased, the day is printed and no file is written.',
    uses: usesOf('warehouse', 'emails', 'archive', 'spool'),
    flags: { ...personFlags, '--out <file>': 'the new file', ...jsonFlag },
    examples: {
      'daywalk person export --user user_123 --out user_123.json': 'everything about this user',
      'daywalk person export --email ada@example.com --out ada.json': 'the same by address',
    },
    onlyReads: true,
    resultIsOutput: false,
    load: async () => (await import('../actions/erase.ts')).exportPersonAction,
  },
  {
    name: 'erase',
    summary: 'erases a person, or an organization, from the warehouse, the archive and the spool',
    description:
      'Replaces the user ID of a person and every email address that was ever seen with it by pseudonyms: in all tables, in the ' +
      'archive and in the spool. Totals stay exact. The person does not come back with a later run, replay, copy, load of people ' +
      'or hook event. With --organization alone, everything of that organization is removed, and runs for it are refused. An ' +
      'erasure cannot be taken back. After an interruption, the same command resumes. Lakes of Delta tables are published again, ' +
      'without earlier versions. Backups, and other places that the warehouse was copied or published to, are not changed; the ' +
      'certificate names those places that are known.',
    uses: usesOf('organizations', 'warehouse', 'emails', 'archive', 'erasures', 'spool'),
    flags: {
      '--user <id>': 'the user ID of the person',
      '--email <address>': 'an email address of the person, if the user ID is not known',
      '--organization <name>':
        'the organization of the person, by its ID or its name (default: the only one); without a person, the organization to remove',
      '--dry-run': 'count what would change; change nothing',
      '--drop-damaged':
        'remove archived rows that cannot be read: they may hold the person; without it, they end the command',
      '--joined':
        'also replace each word that holds the ID or an address joined with other characters, in another letter case or encoded',
      '--leave-joined':
        'accept such words; without both flags they are counted, and the command exits with code 5',
      '--certificate <file>': 'write the certificate to this new file; it contains no personal data',
      '--wait': 'wait for a run to end instead of exiting with code 75',
      ...jsonFlag,
    },
    examples: {
      'daywalk erase --user user_123 --dry-run': 'what would change',
      'daywalk erase --email ada@example.com --certificate erased.json':
        'erase this person, and keep the evidence',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/erase.ts')).eraseAction,
  },
];
