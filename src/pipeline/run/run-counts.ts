import { daysBetween, type UtcDay } from '../../core/day.ts';
import type { Advice } from '../../core/errors.ts';
import { adviceOf, DaywalkError, messageOf, RULES } from '../../core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../../core/exit-code.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Stream } from '../../core/stream.ts';
import { awaitsLeavers } from '../../judge/doubt.ts';
import {
  FLAPPING,
  type Flapping,
  flappingAfter,
  isFlappingNow,
  parseFlapping,
} from '../../judge/flapping.ts';
import { isMassNow, type Mass } from '../../judge/mass.ts';
import { isUnstableUnit, parseNotes } from '../../judge/notes.ts';
import { readOpenRecords } from '../../ledger/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { writeState } from '../../records/index.ts';
import type { LedgerDay, LedgerUnit, UnitState } from '../../units/index.ts';
import type { RunEvent, RunObserver, RunProblem, RunReport } from '../events.ts';
import type { PlanRequest } from '../plan.ts';
import type { KnownLedger } from './known-ledger.ts';

/** Maximum number of distinct problems in a report. The ledger has the error of each unit. */
const PROBLEMS_MAX = 50;

export interface DoneUnit {
  readonly state: UnitState;
  readonly restated: boolean;
  readonly quarantined: number;
}

/** Counts what happens in a run, and makes its report. */
export class RunCounts {
  orgId: string | null = null;
  organizationsBefore: readonly string[] = [];
  /** What the run pulls; null before it knows the organization. */
  request: PlanRequest | null = null;
  planned = 0;
  settled = 0;
  readonly #byOthers = new Set<string>();
  /** Fact rows inserted, updated or deleted. */
  rowsWritten = 0;
  #restatements = 0;
  /** Settled days that were opened again. */
  reopened = 0;
  /** The last outcome of each unit; a unit may be pulled more than once. */
  readonly #units = new Map<string, DoneUnit | 'failed'>();
  readonly #problems = new Map<string, Advice & { message: string; units: number }>();
  readonly #exits = new Set<ExitCode>();

  recordDone(name: string, unit: DoneUnit): void {
    this.#units.set(name, unit);
    this.#restatements += Number(unit.restated);
  }

  /** A committed unit has another state now, because its day has settled or opened again. */
  setState(name: string, state: UnitState): void {
    const unit = this.#units.get(name);
    if (unit !== undefined && unit !== 'failed') this.#units.set(name, { ...unit, state });
  }

  /** Doubted units of the run's range. Set when the run ends. */
  doubted = 0;

  /** Units of the run's range whose answers go back and forth. Set when the run ends. */
  unstable = 0;

  /** Many settled days differ from the service at once. Set when the run ends. */
  isMass = false;

  /** The service alternates between answers. Set when the run ends. */
  isFlapping = false;

  /** Units of the run's range with records in quarantine that count, whatever their state. Set when the run ends. */
  withOpenRecords: number | null = null;

  /** Another worker committed a unit. */
  recordOtherWorker(name: string): void {
    this.#byOthers.add(name);
  }

  /** Fact rows were inserted, updated or deleted. */
  addRows(rows: number): void {
    this.rowsWritten += rows;
  }

  /** Counts a problem. Problems of the same `kind` are listed once. */
  addProblem(error: unknown, { kind, units }: { kind: string; units: number }): void {
    const known = this.#problems.get(kind);
    if (known !== undefined) {
      known.units += units;
      return;
    }
    if (this.#problems.size >= PROBLEMS_MAX) return;
    this.#problems.set(kind, { message: messageOf(error), ...adviceOf(error), units });
  }

  recordFailure(name: string, stream: Stream, error: DaywalkError): void {
    this.#units.set(name, 'failed');
    this.recordNoAnswer(stream, error);
  }

  /** A request failed that only compared settled units; no unit fails because of it. */
  recordNoAnswer(stream: Stream, error: DaywalkError): void {
    this.#exits.add(error.exitCode);
    const status = 'status' in error ? String(error.status) : '';
    this.addProblem(error, { kind: `${stream} ${error.name} ${status}`, units: 1 });
  }

  /** The run ended early because of this error. */
  recordEnd(error: unknown): void {
    this.#exits.add(error instanceof DaywalkError ? error.exitCode : EXIT.defect);
    this.addProblem(error, { kind: 'end', units: 0 });
  }

  /** Units are left to the next run, by its own choice. */
  leaveOut(names: ReadonlySet<string>): void {
    this.planned -= this.undone(names).length;
  }

  /** Those of some units that were neither committed by any worker nor failed. */
  undone(names: ReadonlySet<string>): string[] {
    return [...names].filter((name) => !this.#units.has(name) && !this.#byOthers.has(name));
  }

  /** Units that were planned, but neither committed by any worker nor failed. */
  get leftOut(): number {
    return this.planned - this.#units.size - this.#byOthers.size;
  }

  get exitCode(): ExitCode {
    const quarantined = this.#ended.filter(({ state }) => state === 'quarantined').length;
    const isSuspect =
      this.doubted > 0 ||
      this.unstable > 0 ||
      this.isFlapping ||
      this.isMass ||
      (this.withOpenRecords ?? quarantined) > 0;
    return worstExit([
      ...this.#exits,
      ...(this.leftOut > 0 ? [EXIT.upstream] : []),
      ...(isSuspect ? [EXIT.quarantine] : []),
    ]);
  }

  /** The streams of which every planned unit was committed. A run that left units out completed none. */
  completedUpTo(lastDayDue: UtcDay): Stream[] {
    if (this.request === null || this.request.lastDay < lastDayDue || this.leftOut > 0) return [];
    const failed = new Set(
      [...this.#units].flatMap(([name, unit]) => (unit === 'failed' ? [name.split(' ')[0]] : [])),
    );
    return this.request.streams.filter((stream) => !failed.has(stream));
  }

  get #ended(): DoneUnit[] {
    return [...this.#units.values()].filter((unit) => unit !== 'failed');
  }

  report(
    run: { runId: string; command: string; organization?: string },
    cost: Pick<RunReport, 'requests' | 'retries' | 'responses' | 'durationMs' | 'completed'>,
  ): RunReport {
    const problems: RunProblem[] = [...this.#problems.values()];
    const ended = this.#ended;
    const states: Partial<Record<UnitState, number>> = {};
    for (const { state } of ended) states[state] = (states[state] ?? 0) + 1;
    return {
      ...run,
      orgId: this.orgId,
      ...(this.organizationsBefore.length > 0 && { organizationsBefore: this.organizationsBefore }),
      exitCode: this.exitCode,
      firstDay: this.request?.firstDay ?? null,
      lastDay: this.request?.lastDay ?? null,
      unitsPlanned: this.planned,
      unitsSettled: this.settled,
      unitsDone: ended.length,
      unitsElsewhere: this.#byOthers.size,
      unitsFailed: this.#units.size - ended.length,
      unitsLeftOut: this.leftOut,
      unitsDoubted: this.doubted,
      unitsUnstable: this.unstable,
      daysReopened: this.reopened,
      states,
      rowsWritten: this.rowsWritten,
      restatements: this.#restatements,
      quarantined: ended.reduce((sum, { quarantined }) => sum + quarantined, 0),
      ...cost,
      problems,
    };
  }
}

/** True for a doubted unit in the run's range. Users who have left are only listed. */
export function isDoubted(unit: LedgerUnit, request: PlanRequest): boolean {
  return unit.state === 'doubted' && !awaitsLeavers(unit) && isInRange(unit, request);
}

function isInRange(unit: OpenUnit, { streams, firstDay, lastDay }: PlanRequest): boolean {
  const { stream, day = '' } = unit;
  return streams.includes(stream) && (day === '' || (day >= firstDay && day <= lastDay));
}

/** A unit of the ledger or of the quarantine. Readiness has no day, or ''. */
type OpenUnit = { readonly stream: Stream; readonly day?: UtcDay | '' };

/** What a run has found out by its end. */
export interface Attention {
  readonly warehouse: Warehouse;
  readonly orgId: string;
  readonly request: PlanRequest;
  readonly ledger: KnownLedger;
  /** The UTC day on which the run began. */
  readonly today: UtcDay;
  /** Whether the service alternated before the run, as it is stored. */
  readonly flapping: string | null;
  /** Whether many settled days differ at once, by the end of the run. */
  readonly mass: Mass | null;
  readonly observe: RunObserver;
}

/** Counts what decides on the exit code beside failures: doubts, units that go back and forth, quarantine. */
export async function countAttention(counts: RunCounts, found: Attention): Promise<void> {
  const { ledger, today, mass, observe } = found;
  await countStored(counts, { ...found, units: ledger.all() });
  const flapping = await rememberFlapping(found, found.flapping);
  if (mass?.since === today) observe(massWarning(mass));
  countNamed(counts, { mass, flapping, today });
}

/** Counts the units of the run's range that are doubted, go back and forth, or have records in quarantine, whatever their state. */
export async function countStored(
  counts: RunCounts,
  { warehouse, orgId, units, request }: Stored,
): Promise<void> {
  counts.doubted = units.filter((unit) => isDoubted(unit, request)).length;
  counts.unstable = units.filter((unit) => isUnstableUnit(unit) && isInRange(unit, request)).length;
  const open = await readOpenRecords(warehouse, orgId);
  counts.withOpenRecords = open.filter((unit) => isInRange(unit, request)).length;
}

interface Stored extends Pick<Attention, 'warehouse' | 'orgId' | 'request'> {
  readonly units: readonly LedgerUnit[];
}

/** Notes whether many settled days differ at once, and whether the service alternates, as long as these are named. */
export function countNamed(counts: RunCounts, { mass, flapping, today }: Named): void {
  counts.isMass = mass !== null && isMassNow(mass, today);
  counts.isFlapping = flapping !== null && isFlappingNow(flapping, today);
}

interface Named extends Pick<Attention, 'mass' | 'today'> {
  readonly flapping: Flapping | null;
}

/** Warns of old days whose own numbers contradict each other, and which do not settle therefore. */
export function warnOfDisagreement(
  days: readonly LedgerDay[],
  about: { readonly today: UtcDay; readonly settleDays: number; readonly observe: RunObserver },
): void {
  const waiting = days.flatMap(({ day, settledAt, watch }) => {
    const { odd = [], breaks = [] } = parseNotes(watch);
    if (daysBetween(day, about.today) < about.settleDays) return [];
    return (settledAt === null ? odd : breaks).map((identity) => ({ day, identity }));
  });
  for (const [identity, own] of Map.groupBy(waiting, (each) => each.identity)) {
    const found = [...new Set(own.map(({ day }) => day))].toSorted();
    const span = found.length === 1 ? found[0] : `${found.length} days from ${found[0]} to ${found.at(-1)}`;
    const message = `${span}: ${RULES['figures-disagree']}: not ${identity}`;
    const hint =
      'it settles when the numbers agree, or unconfirmed after runs have found the same for seven days';
    about.observe({ type: 'warning', message, hint });
  }
}

/** Named once, on the night on which many settled days begin to differ. */
function massWarning({ days, first, last }: Mass): RunEvent {
  return {
    type: 'warning',
    message: `${days} settled days differ from the service at once, ${first} to ${last}`,
    hint: 'every run compares all of history now; what three runs find the same is stored',
  };
}

/** Records at the end of a run whether the service alternates. */
async function rememberFlapping(
  { warehouse, orgId, ledger, today }: Attention,
  stored: string | null,
): Promise<Flapping | null> {
  // What no look has seen today says nothing about today, for example while the watch is off.
  const seenToday = ledger.days().filter(({ watch }) => parseNotes(watch).looks?.at(-1)?.[0] === today);
  const unstable = new Set(seenToday.flatMap((unit) => (isUnstableUnit(unit) ? [unit.day] : [])));
  const after = flappingAfter(parseFlapping(stored, today), unstable.size, today);
  const text = canonicalJson(after);
  if (text !== (stored ?? canonicalJson(null))) await writeState(warehouse, orgId, FLAPPING, text);
  return after;
}
