import type { UtcDay } from '../core/day.ts';
import { DefectError, UsageError } from '../core/errors.ts';
import type { Stream } from '../core/stream.ts';
import type { Warehouse } from '../port/index.ts';
import type { EmailPolicy } from '../privacy/index.ts';
import { readContents } from './answer-queries.ts';
import {
  type Answer,
  type Contents,
  type DayAnswer,
  dayAnswers,
  joinContents,
  type LostAnswer,
  namesOf,
  type ObjectRef,
  partsOf,
  READINESS,
  reportsAfter,
  UNKNOWN_UNIT,
  unitKeyOf,
  type WalkStep,
  walkSteps,
} from './answers.ts';
import { ArchiveFile, type Patience, withArchive } from './archive-file.ts';
import { readKnownWarehouses } from './meet-warehouse.ts';
import { ObjectReader, splitPages, splitRows } from './objects.ts';
import { keptOutOf, shareListOf } from './people.ts';
import { decidedContents } from './reconcile.ts';

/** Which answers to replay. */
export interface ReplayScope {
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly streams: readonly Stream[];
  /** What was committed by this instant; null for the newest. */
  readonly asOf: Date | null;
  /** The present email policy. */
  readonly emails: EmailPolicy['mode'];
  readonly policy: string;
}

/** The answers of one organization to replay. */
export interface ChosenAnswers {
  readonly orgId: string;
  /** In the order of their pulls. */
  readonly days: readonly DayAnswer[];
  /** The objects of the reports, with the last step of the walk; null if none were committed. */
  readonly readiness: {
    readonly last: WalkStep;
    readonly objects: readonly ObjectRef[];
    /** Steps of walks are lost, so the archive does not know all reports. */
    readonly isPartial: boolean;
  } | null;
}

/** What to replay, and what cannot be. */
interface Choice {
  readonly organizations: readonly ChosenAnswers[];
  /** The units whose newest answer is lost, so that an older one would be wrong. */
  readonly lost: readonly string[];
}

/**
 * Chooses the newest committed answer of every unit. Doubted and dropped answers are never chosen.
 * @throws {UsageError} if the archive cannot say what was committed, or if addresses were hashed with another salt.
 */
function chooseAnswers(contents: Contents, scope: ReplayScope): Choice {
  const asOf = scope.asOf?.toISOString() ?? null;
  if (asOf !== null && contents.prunedBefore !== null && asOf < contents.prunedBefore) {
    throw new UsageError(
      `the archive was thinned out before ${contents.prunedBefore}, and cannot say what was there on ${asOf}`,
      { hint: `ask for an instant from ${contents.prunedBefore} on` },
    );
  }
  const isWanted = ({ unit, at }: { readonly unit: string | null; readonly at: string }) =>
    isIn(unit, scope) && (asOf === null || at <= asOf);
  const possible = contents.answers.filter(
    (answer) =>
      isWanted(answer) &&
      answer.outcome !== 'dropped' &&
      !(answer.kind === 'day' && answer.verdict === 'doubted'),
  );
  const steps = walkSteps(possible);
  const newest = [...dayAnswers(possible).values()].flatMap((answers) => answers.at(-1) ?? []);
  const lost = newerLost(contents.lost.filter(isWanted), newest);
  const lostUnits = new Set(lost.map((answer) => unitKeyOf({ org: answer.org, unit: answer.unit ?? '' })));
  const days = newest.filter((answer) => !lostUnits.has(unitKeyOf(answer)));
  const used = [...days, ...[...steps.values()].flat()];
  expectDecided(used);
  expectPolicy(used, scope);
  const organizations = [...new Set(possible.map(({ org }) => org))].sort().map((orgId) => ({
    orgId,
    days: days
      .filter(({ org }) => org === orgId)
      .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at))),
    readiness: readinessOf(steps.get(orgId) ?? [], lostUnits.has(unitKeyOf({ org: orgId, unit: READINESS }))),
  }));
  return { organizations, lost: [...new Set(lost.map(({ unit }) => unit ?? UNKNOWN_UNIT))] };
}

function isIn(unit: string | null, { firstDay, lastDay, streams }: ReplayScope): boolean {
  // Nobody knows that it is not wanted.
  if (unit === null) return true;
  const { stream, day } = partsOf(unit);
  return streams.some((wanted) => wanted === stream) && (day === null || (day >= firstDay && day <= lastDay));
}

/** The lost answers that may be the newest about their unit. */
function newerLost(lost: readonly LostAnswer[], newest: readonly DayAnswer[]): LostAnswer[] {
  const instants = new Map(
    newest.filter(({ outcome }) => outcome === 'committed').map((answer) => [unitKeyOf(answer), answer.at]),
  );
  return lost.filter(({ org, unit, at }) => {
    const instant = unit === null ? undefined : instants.get(unitKeyOf({ org, unit }));
    return instant === undefined || at >= instant;
  });
}

function readinessOf(steps: readonly WalkStep[], isPartial: boolean): ChosenAnswers['readiness'] {
  const last = steps.at(-1);
  return last === undefined ? null : { last, objects: [...reportsAfter(steps).values()], isPartial };
}

function expectDecided(answers: readonly Answer[]): void {
  const open = answers.filter(({ outcome }) => outcome === 'undecided');
  if (open.length === 0) return;
  throw new UsageError(`the archive does not know whether these answers were committed: ${namesOf(open)}`, {
    hint: 'a kill came between; the next run with this archive, on the warehouse that it belongs to, finds out',
  });
}

function expectPolicy(answers: readonly Answer[], { emails, policy }: ReplayScope): void {
  const otherSalt = answers.filter(
    (answer) => answer.emails === 'hash' && emails === 'hash' && answer.policy !== policy,
  );
  if (otherSalt.length > 0) {
    throw new UsageError(`the emails of these answers were hashed with another salt: ${namesOf(otherSalt)}`, {
      hint: 'give the salt with which the answers were archived',
    });
  }
}

/** Archives that are open for a replay. All reads see one state of each. */
export interface ReadArchives {
  /** The warehouses that the archives have met, the last one first. */
  readonly warehouses: readonly string[];
  /** Chooses the newest committed answer of every unit. See {@link chooseAnswers}. */
  choose(scope: ReplayScope): Choice;
  /**
   * The rows of an object, by page.
   * @throws {DamagedError} with the reason `archive-damaged` if it is missing or damaged.
   */
  pagesOf(object: ObjectRef): Promise<string[]>;
}

/**
 * Reads archives for a replay: gives them and the warehouse the list of whom the gate of any keeps out, and decides by the ledger what a killed run has
 * left undecided. Answers of a run that is alive are left out until it says what became of them.
 * @throws {UsageError} if one of them is not there.
 * @throws {StorageError} if such a list is damaged.
 */
export async function withArchives<Result>(
  archives: readonly string[],
  { warehouse, ...patience }: Patience & { readonly warehouse: Warehouse },
  use: (archives: ReadArchives) => Promise<Result>,
): Promise<Result> {
  for (const archive of archives) await shareListOf(archive, { warehouse, ...patience });
  const files = new Map<string, { readonly file: ArchiveFile; readonly objects: ObjectReader }>();
  try {
    const all: Contents[] = [];
    for (const archive of archives) {
      const file = ArchiveFile.read(archive);
      files.set(file.path, { file, objects: new ObjectReader(file) });
      file.holdSnapshot();
      all.push(await decidedContents(file, warehouse));
    }
    const known = [...files.values()].flatMap(({ file }) => readKnownWarehouses(file));
    return await use({
      warehouses: [...new Set(known.sort((a, b) => (a.at > b.at ? -1 : 1)).map(({ id }) => id))],
      choose: (scope) => chooseAnswers(joinContents(all), scope),
      pagesOf: async ({ archive, sha256 }) => {
        const objects = files.get(archive)?.objects;
        if (objects === undefined) throw new DefectError('read archived rows', `${archive} is not open`);
        return splitPages(await objects.get(sha256));
      },
    });
  } finally {
    for (const { file } of files.values()) file.close();
  }
}

/** What runs have committed into one archive, while it is open. */
export interface CommittedAnswers {
  /** As {@link ReadArchives.choose} chooses. */
  choose(scope: ReplayScope): Choice;
  /** True if pseudonyms stand in it for people whom the gate keeps out. */
  readonly hasPseudonyms: boolean;
  /**
   * The rows of an object, as JSON texts.
   * @throws {DamagedError} with the reason `archive-damaged` if it is missing or damaged.
   */
  rowsOf(sha256: string): Promise<string[]>;
}

/**
 * Reads what runs have committed into an archive, without their warehouse, and changes nothing.
 * @throws {UsageError} if there is no archive.
 */
export function withCommitted<Result>(
  archive: string,
  use: (committed: CommittedAnswers) => Promise<Result>,
): Promise<Result> {
  return withArchive(ArchiveFile.read(archive), (file) => {
    file.holdSnapshot();
    const contents = readContents(file);
    const answers = contents.answers.filter(({ outcome }) => outcome === 'committed');
    const objects = new ObjectReader(file);
    return use({
      choose: (scope) => chooseAnswers({ ...contents, answers }, scope),
      hasPseudonyms: keptOutOf(file).entries.length > 0,
      rowsOf: async (sha256) => splitRows(await objects.get(sha256)),
    });
  });
}
