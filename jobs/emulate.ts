import { readFileSync } from 'node:fs';
import { type ChosenAnswers, type CommittedAnswers, partsOf, withCommitted } from '../src/archive/index.ts';
import { aborted, type JobContext } from '../src/core/clock.ts';
import { dayOf, FIRST_DAY, parseDay, type UtcDay } from '../src/core/day.ts';
import { messageOf, UsageError } from '../src/core/errors.ts';
import { isDailyStream, STREAMS, type Stream } from '../src/core/stream.ts';
import {
  type DaySource,
  type EmulatorOptions,
  parseDays,
  parseQuirks,
  parseRules,
  startEmulator,
} from '../src/emulator/index.ts';

/** What to emulate. The emulator chooses what is not given. */
interface EmulationRequest
  extends Pick<
    EmulatorOptions,
    | 'host'
    | 'token'
    | 'seed'
    | 'users'
    | 'reports'
    | 'apiKey'
    | 'latencyMs'
    | 'journalEntriesMax'
    | 'realistic'
  > {
  readonly port: number;
  /**
   * The current day, which has no data yet.
   * @default the current day of the clock
   */
  readonly today?: UtcDay | undefined;
  /** Path of a JSON file with faults to inject. */
  readonly rulesFile?: string | undefined;
  /** Path of a JSON file with behaviours to switch. */
  readonly quirksFile?: string | undefined;
  /** Path of a file with the rows of some days, a line of JSON for each. */
  readonly daysFile?: string | undefined;
  /** The archive of a run, whose answers are served instead of generated rows. */
  readonly archive?: string | undefined;
  /** The ID of one of the organizations of the archive; needed if there are several. */
  readonly organization?: string | undefined;
}

/** How to reach the emulated service. */
interface EmulatedService {
  readonly url: string;
  readonly apiKey: string;
  readonly orgId: string;
}

/**
 * Runs the emulator until the process is asked to stop.
 * @throws {UsageError} when a file cannot be read or the port cannot be used.
 */
export async function emulateService(
  request: EmulationRequest,
  { clock, signal }: Pick<JobContext<never>, 'clock' | 'signal'>,
  onListening: (service: EmulatedService) => void,
): Promise<void> {
  const { rulesFile, quirksFile, daysFile, archive, organization, today, ...options } = request;
  const rules = readInput(rulesFile, (text) => parseRules(JSON.parse(text)));
  const quirks = readInput(quirksFile, (text) => parseQuirks(JSON.parse(text)));
  const archived = archive === undefined ? undefined : await readArchivedDays(archive, organization);
  const days = readInput(daysFile, (text) => parseDays(text, archived?.days)) ?? archived?.days;
  const emulator = await startEmulator({
    ...options,
    rules,
    quirks,
    days,
    orgId: archived?.orgId,
    clock,
    today: today ?? dayOf(clock.now()),
  });
  try {
    const { url, apiKey, orgId } = emulator;
    onListening({ url, apiKey, orgId });
    await aborted(signal);
  } finally {
    await emulator.close();
  }
}

function readInput<Value>(file: string | undefined, parse: (text: string) => Value): Value | undefined {
  if (file === undefined) return undefined;
  try {
    // A byte order mark before the text is not part of it.
    return parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    const hint = error instanceof UsageError ? error.hint : 'give the path of a file with one JSON document';
    throw new UsageError(`read ${file}: ${messageOf(error)}`, { cause: error, hint });
  }
}

/** An organization as runs have archived it. */
export interface ArchivedOrganization {
  readonly orgId: string;
  /** Its days: the newest committed answer about each. Days that were never committed have no rows. */
  readonly days: DaySource;
}

/** Any day of an archive is before it. */
const END = parseDay('9999-12-31');
/** Characters of all rows, which are held in memory. */
const CHARS_MAX = 1024 ** 3;

/**
 * Reads the rows of an archive, and changes nothing in it.
 * @param organization the ID of one of its organizations; needed if there are several.
 * @throws {UsageError} if there is no archive, it does not have the organization, or it is too large.
 * @throws {StorageError} if it is damaged.
 */
export function readArchivedDays(archive: string, organization?: string): Promise<ArchivedOrganization> {
  // Whatever the policy was, the answers are served as it left them.
  const scope = { firstDay: FIRST_DAY, lastDay: END, asOf: null, emails: 'keep', policy: '' } as const;
  return withCommitted(archive, async (committed) => {
    const { organizations, lost } = committed.choose({ ...scope, streams: STREAMS });
    const own = chooseOrganization(organizations, organization, archive);
    const rows = await readRows(committed, own, archive);
    const description = {
      days: describe(rows),
      removed: [...describeRemoved(own, committed), ...describeLost(lost)],
    };
    return {
      orgId: own.orgId,
      days: {
        rowsOf: (stream, date) => rows.get(nameOf(stream, date))?.texts ?? [],
        reports: () => rows.get(nameOf('readiness', ''))?.texts ?? [],
        describe: () => description,
      },
    };
  });
}

function chooseOrganization(
  chosen: readonly ChosenAnswers[],
  organization: string | undefined,
  archive: string,
): ChosenAnswers {
  const possible = chosen.filter(({ orgId }) => organization === undefined || orgId === organization);
  const [own, another] = possible;
  if (own !== undefined && another === undefined) return own;
  const organizations = chosen.map(({ orgId }) => orgId).join(', ');
  if (organizations === '') {
    throw new UsageError(`the archive ${archive} has no committed answers`, {
      hint: 'name the archive of a run that has ended',
    });
  }
  const problem = organization === undefined ? 'has several organizations' : `does not have ${organization}`;
  throw new UsageError(`the archive ${archive} ${problem}`, {
    reason: 'organization-unclear',
    hint: `choose one of ${organizations}`,
    facts: { organizations },
  });
}

interface RowsOfDay {
  readonly stream: Stream;
  readonly date: string;
  readonly texts: readonly string[];
}

async function readRows(
  { rowsOf }: CommittedAnswers,
  { days, readiness }: ChosenAnswers,
  archive: string,
): Promise<Map<string, RowsOfDay>> {
  const units = [
    ...days.flatMap(({ unit, object }) => {
      const { stream, day: date } = partsOf(unit);
      if (!isDailyStream(stream) || date === null) return [];
      return [{ stream, date, objects: object === null ? [] : [object] }];
    }),
    { stream: 'readiness' as const, date: '', objects: readiness?.objects.map(({ sha256 }) => sha256) ?? [] },
  ];
  const rows = new Map<string, RowsOfDay>();
  let chars = 0;
  for (const { stream, date, objects } of units) {
    const texts: string[] = [];
    for (const object of objects) {
      const own = await rowsOf(object);
      chars += own.reduce((sum, text) => sum + text.length, 0);
      if (chars > CHARS_MAX) refuseSize(archive);
      texts.push(...own);
    }
    rows.set(nameOf(stream, date), { stream, date, texts });
  }
  return rows;
}

function refuseSize(archive: string): never {
  throw new UsageError(`the archive ${archive} has more than ${CHARS_MAX} characters of rows`, {
    hint: 'thin it out with daywalk archive prune, in a copy',
  });
}

function nameOf(stream: Stream, date: string): string {
  return `${stream} ${date}`;
}

function describe(rows: ReadonlyMap<string, RowsOfDay>): ReturnType<DaySource['describe']>['days'] {
  return [...rows.values()].map(({ stream, date, texts }) => ({ stream, date, rows: texts.length }));
}

const LEFT_OF_EMAILS = { hash: 'hashes stand for email addresses', drop: 'email addresses' } as const;

/** What the policy of the runs has removed before it came into the archive. */
function describeRemoved(
  { days, readiness }: ChosenAnswers,
  { hasPseudonyms }: Pick<CommittedAnswers, 'hasPseudonyms'>,
): string[] {
  const modes = new Set([...days.map(({ emails }) => emails), ...(readiness ? [readiness.last.emails] : [])]);
  return [
    ...(['hash', 'drop'] as const).filter((mode) => modes.has(mode)).map((mode) => LEFT_OF_EMAILS[mode]),
    ...(hasPseudonyms ? ['people who were erased: pseudonyms stand for them'] : []),
  ];
}

/** The names of units that are shown at most. */
const NAMES_MAX = 5;

/** Units whose newest answer is damaged: an older one would be wrong, so they have no rows. */
function describeLost(lost: readonly string[]): string[] {
  if (lost.length === 0) return [];
  const more = lost.length > NAMES_MAX ? ` and ${lost.length - NAMES_MAX} more` : '';
  return [`rows of ${lost.slice(0, NAMES_MAX).join(', ')}${more}, which are damaged in the archive`];
}
