import { activityDaily, activityDailyByClient } from '../../../../schema/tables/activity.ts';
import type { Clock } from '../../../core/clock.ts';
import type { UtcDay } from '../../../core/day.ts';
import type { StandingDoubt } from '../../../judge/doubt.ts';
import { parseNotes } from '../../../judge/notes.ts';
import {
  type DayCommit,
  type DayUnit,
  dayKey,
  decodeRows,
  type LedgerDay,
  pendingUnit,
  type Row,
  type SettleRule,
  unitName,
  type Warehouse,
} from '../../../warehouse/port.ts';
import type { DayBatch } from '../../batch.ts';
import { dayCommit, isActive, type NormalizedDay } from '../../commit.ts';
import { judgeDay } from '../../judge-day.ts';
import type { KnownLedger } from '../known-ledger.ts';
import type { Watch } from '../watch/watch.ts';
import type { KnownDay } from './known-answers.ts';
import type { PreparedDay } from './prepare-batch.ts';
import type { SecondLooks } from './second-looks.ts';

/** What taking answers in needs. */
export interface IntakeOptions {
  readonly orgId: string;
  readonly runId: string;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly rule: SettleRule;
  readonly force: boolean;
  /** Accept losses that were doubted when the run began, and are no larger now. */
  readonly acceptLoss: boolean;
  readonly ledger: KnownLedger;
  readonly watch: Watch;
  readonly looks: SecondLooks;
  /** True for a unit that the run pulls. */
  readonly isPlanned: (unit: DayUnit) => boolean;
}

/** A day that may be stored, and what is to be said about its answer. */
export interface ReadyDay {
  readonly commit: DayCommit;
  readonly warnings: readonly string[];
}

/** What becomes of the days of a batch. */
export interface Sorted {
  readonly ready: readonly ReadyDay[];
  /** Days of which only their own answer decides. */
  readonly alone: readonly UtcDay[];
  /** Answers that are not believed. */
  readonly doubts: readonly { readonly commit: DayCommit; readonly doubt: StandingDoubt }[];
  /** Rows of all days together. */
  readonly rows: number;
}

const TRAILING = new Set(['weekly_active_users', 'monthly_active_users']);

/** Takes in what the service answered, and decides what each day of it is worth. Stores nothing. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #doubtedAtStart: ReadonlySet<string>;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#doubtedAtStart = new Set(
      options.ledger.days().flatMap((unit) => (unit.state === 'doubted' ? [unitName(unit)] : [])),
    );
  }

  /**
   * Sorts the days of a batch.
   * @param pulled the requests that are counted for its first day, and the digest of its answers where it has one.
   */
  async sort(
    batch: DayBatch,
    days: readonly PreparedDay[],
    pulled: { readonly requests: number; readonly answersSha256: string | null },
  ): Promise<Sorted> {
    const ready: ReadyDay[] = [];
    const alone: UtcDay[] = [];
    const doubts: { commit: DayCommit; doubt: StandingDoubt }[] = [];
    const rowsInAll = days.reduce((sum, { day }) => sum + storedRows(day), 0);
    const nothing = { ready, alone, doubts, rows: rowsInAll };
    // A gap that has rows after all was answered differently twice: only the days' own answers decide.
    if (batch.isGap === true && batch.days.length > 1) {
      if (days.some(({ rows }) => rows > 0)) return { ...nothing, alone: batch.days };
      this.#options.looks.confirmed(batch.days);
      return nothing;
    }
    let requests = pulled.requests;
    for (const { day, rows } of days) {
      const settled = this.#options.watch.settled(day.unit);
      if (settled !== undefined) {
        await this.#look(settled, day);
        if (rows === 0) await this.#lookAtOthers(day, batch.speaksFor ?? []);
        continue;
      }
      const commit = this.#commitOf(day, { ...pulled, requests, isOwn: batch.days.length === 1 });
      // The requests of a batch are counted for the first of its days.
      requests = 0;
      const verdict = await this.#judge(commit, day.findings.setAside);
      if (verdict.kind === 'ask-alone') alone.push(commit.day);
      else if (verdict.kind === 'ask-later') this.#options.looks.later(day.unit);
      else if (verdict.kind === 'doubt') doubts.push({ commit, doubt: verdict.doubt });
      else if (rows === 0 && this.#isOpenGap(commit)) this.#options.looks.gap(commit);
      else ready.push({ commit, warnings: day.findings.warnings });
    }
    return nothing;
  }

  /** A day of which the answers were the same as before: its content is stored already. */
  same({ unit, answersSha256 }: KnownDay, requests: number): DayCommit {
    const { orgId, contentSha256, rows, activeUsers } = unit;
    const { rule, runId, clock } = this.#options;
    return {
      ...dayKey(orgId, unit),
      tables: [],
      contentSha256,
      unchanged: { rows },
      state: 'loaded',
      rule,
      runId,
      isOwn: true,
      activeUsers,
      quarantined: [],
      drift: [],
      requests,
      pulledAt: clock.now(),
      answersSha256,
    };
  }

  #commitOf(
    day: NormalizedDay,
    pulled: { requests: number; answersSha256: string | null; isOwn: boolean },
  ): DayCommit {
    const { rule, runId, clock, force, ledger } = this.#options;
    const { warnings, quarantined } = day.findings;
    // What was found in an answer is to be told each time.
    const isClean = pulled.isOwn && warnings.length === 0 && quarantined.length === 0;
    const { stream } = day.unit;
    const commit = dayCommit(day, {
      ...pulled,
      rule,
      runId,
      pulledAt: clock.now(),
      answersSha256: isClean ? pulled.answersSha256 : null,
      basedOn: ledger.of(stream, day.unit.day)?.contentSha256 ?? null,
    });
    return { ...commit, rewrite: force };
  }

  #judge(commit: DayCommit, setAside: number) {
    const { warehouse, ledger, clock, acceptLoss, isPlanned, looks } = this.#options;
    const { stream, day } = commit;
    return judgeDay(commit, {
      warehouse,
      known: ledger.of(stream, day) ?? pendingUnit(dayKey(commit.orgId, commit)),
      setAside,
      active: looks.activeUsers(day),
      isActiveDue: isPlanned({ stream: 'activity', day }) && looks.isOpen(day),
      acceptsLoss: acceptLoss && this.#doubtedAtStart.has(unitName(commit)),
      now: clock.now(),
    });
  }

  /** True for a day without a row in a range, unless the day's own answer said so before. */
  #isOpenGap({ stream, day, contentSha256, isOwn }: DayCommit): boolean {
    const known = this.#options.ledger.of(stream, day);
    return !isOwn && (known === undefined || parseNotes(known.watch).own !== contentSha256);
  }

  /** Compares a settled unit with what the service says of it now. */
  async #look(unit: LedgerDay, day: NormalizedDay): Promise<void> {
    const { contentSha256: sha256 } = this.#commitOf(day, { requests: 0, answersSha256: null, isOwn: false });
    const isSame = sha256 === unit.contentSha256 || isStillIdle(unit, day);
    const trailing = !isSame && (await this.#isTrailingOnly(day));
    const seen = isSame ? null : ({ sha256, by: 'rows', ...(trailing ? { trailing } : {}) } as const);
    this.#options.watch.sees({ unit, by: 'rows', seen });
  }

  /** A day without a row stands for others of a range without any. */
  async #lookAtOthers(day: NormalizedDay, others: readonly UtcDay[]): Promise<void> {
    const { stream } = day.unit;
    for (const other of others) {
      const unit = this.#options.watch.settled({ stream, day: other });
      if (unit !== undefined && other !== day.unit.day)
        await this.#look(unit, { ...day, unit: { stream, day: other } });
    }
  }

  /** True where only the counts over trailing days differ, as they do for a month after a day that was restated. */
  async #isTrailingOnly({ orgId, unit: { stream, day }, tables }: NormalizedDay): Promise<boolean> {
    if (stream !== 'activity') return false;
    for (const table of [activityDaily, activityDailyByClient]) {
      const counted = Object.keys(table.columns).flatMap((name, index) =>
        TRAILING.has(name) ? [] : [index],
      );
      const plain = (rows: readonly Row[]) =>
        JSON.stringify(rows.map((row) => counted.map((index) => row[index])));
      const stored = await this.#options.warehouse.rowsOf(table, { orgId, firstDay: day, lastDay: day });
      const answered = tables.find((part) => part.table === table);
      if (plain(stored) !== plain(answered === undefined ? [] : decodeRows(answered).rows)) return false;
    }
    return true;
  }
}

/**
 * True for a day without activity that has none still. No row and a row of zeros say the same, but counts over trailing
 * days, which an idle day has too, must not get lost.
 */
function isStillIdle(unit: LedgerDay, day: NormalizedDay): boolean {
  if (unit.state !== 'empty' || isActive(day.tables)) return false;
  return storedRows(day) === 0 || (unit.rows === 0 && !hasTrailing(day));
}

function hasTrailing({ tables }: NormalizedDay): boolean {
  const activity = tables.find(({ table }) => table === activityDaily);
  if (activity === undefined) return false;
  const trailing = Object.keys(activityDaily.columns).flatMap((name, index) =>
    TRAILING.has(name) ? [index] : [],
  );
  return decodeRows(activity).rows.some((row) => trailing.some((index) => (row[index] ?? 0) !== 0));
}

function storedRows({ tables }: NormalizedDay): number {
  return tables.reduce((sum, { count }) => sum + count, 0);
}
