import { createHash } from 'node:crypto';
import type { RowsText } from '../../core/archive-port.ts';
import type { Clock } from '../../core/clock.ts';
import type { UtcDay } from '../../core/day.ts';
import type { SettleRule } from '../../judge/agreement.ts';
import type { StandingDoubt } from '../../judge/doubt.ts';
import { parseNotes } from '../../judge/notes.ts';
import { isOtherThanLooked } from '../../judge/watch.ts';
import type { Warehouse } from '../../port/index.ts';
import {
  type DayCommit,
  type DayUnit,
  dayKey,
  type LedgerDay,
  pendingUnit,
  type QuarantinedRecord,
  unitName,
} from '../../units/index.ts';
import { dayCommit, type NormalizedDay } from '../commit.ts';
import { withAge, withStoredRows } from '../held-rows.ts';
import { judgeDay } from '../judge-day.ts';
import type { DayBatch } from '../plan.ts';
import type { KnownDay, KnownLedger } from './known-ledger.ts';
import type { PreparedDay } from './prepare-batch.ts';
import type { SecondLooks } from './request-again.ts';
import type { Watch } from './watch.ts';
import { compareSettledDay } from './watch-comparisons.ts';

interface DaySorterOptions {
  readonly orgId: string;
  readonly runId: string;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly rule: SettleRule;
  readonly force: boolean;
  /** Accept losses that were doubted when the run began and are no larger now. */
  readonly acceptLoss: boolean;
  readonly ledger: KnownLedger;
  readonly watch: Watch;
  readonly looks: SecondLooks;
  /** True for a unit that the run pulls. */
  readonly isPlanned: (unit: DayUnit) => boolean;
  /** True for a unit that the run only looks at again. */
  readonly isLook: (unit: DayUnit) => boolean;
}

/** A day that may be stored, with the warnings about its answer. */
export interface ReadyDay {
  readonly commit: DayCommit;
  readonly warnings: readonly string[];
  /** The texts of its rows for the archive; empty if it keeps them already. */
  readonly texts: readonly RowsText[];
}

/** An answer that is not believed. */
export interface DoubtedDay {
  readonly commit: DayCommit;
  readonly doubt: StandingDoubt;
  /** The texts of its rows for the archive. */
  readonly texts: readonly RowsText[];
}

export interface Sorted {
  readonly ready: readonly ReadyDay[];
  /** Days that must be requested alone before they are judged. */
  readonly alone: readonly UtcDay[];
  /** Answers that are not believed. */
  readonly doubts: readonly DoubtedDay[];
  /** Rows of all days together. */
  readonly rows: number;
}

interface Pulled {
  readonly requests: number;
  readonly answersSha256: string | null;
}

/** Judges each day of a batch: store it, request it alone, doubt it, or only compare it. Stores nothing itself. */
export class DaySorter {
  readonly #options: DaySorterOptions;
  readonly #doubtedAtStart: ReadonlySet<string>;

  constructor(options: DaySorterOptions) {
    this.#options = options;
    const doubted = options.ledger.days().filter(({ state }) => state === 'doubted');
    this.#doubtedAtStart = new Set(doubted.map(unitName));
  }

  /**
   * Sorts the days of a batch.
   * @param pulled the requests, which count for the first day, and the digest of the answers if there is one.
   */
  async sort(batch: DayBatch, days: readonly PreparedDay[], pulled: Pulled): Promise<Sorted> {
    const ready: ReadyDay[] = [];
    const alone: UtcDay[] = [];
    const doubts: DoubtedDay[] = [];
    const { looks, watch } = this.#options;
    const sorted = { ready, alone, doubts, rows: days.reduce((sum, { day }) => sum + rowsOf(day), 0) };
    if (batch.isGap === true && batch.days.length > 1) {
      // The same range was answered in two ways, so each day is requested alone.
      if (days.some(({ rows }) => rows > 0)) return { ...sorted, alone: batch.days };
      looks.confirmGap(batch.days);
      return sorted;
    }
    let { requests } = pulled;
    const isOwn = batch.days.length === 1;
    for (const { day: answered, rows, texts } of days) {
      const day = await withStoredRows(answered, this.#options.warehouse);
      if (watch.settled(day.unit) !== undefined) {
        await this.#compare(day);
        if (rows === 0) await this.#compareOthers(day, batch.speaksFor ?? []);
        continue;
      }
      // A range never decides that a key is held.
      if (!isOwn && day.findings.held.length > 0) {
        alone.push(day.unit.day);
        continue;
      }
      const commit = await this.#aged(this.#commitOf(day, { ...pulled, requests, isOwn }));
      requests = 0;
      const verdict = await this.#judge(commit, day);
      if (verdict.kind === 'request-alone') alone.push(commit.day);
      else if (verdict.kind === 'request-later') looks.requestLater(day.unit);
      else if (verdict.kind === 'doubt') doubts.push({ commit, doubt: verdict.doubt, texts });
      else if (rows === 0 && this.#isOpenGap(commit)) looks.holdGap(commit);
      else {
        const look = this.#asLook(commit);
        const { warnings } = day.findings;
        ready.push(look === undefined ? { commit, warnings, texts } : { commit: look, warnings, texts: [] });
      }
    }
    return sorted;
  }

  /**
   * The unit, if a range without rows says nothing new about it: it had no rows before, and no activity of the organization
   * was ever stored. Such a day does not settle, so the range need not be believed.
   */
  knownEmpty({ stream, day }: DayUnit): LedgerDay | undefined {
    const { ledger, rule } = this.#options;
    const unit = rule.activeSince === null ? ledger.of(stream, day) : undefined;
    return unit?.state === 'awaiting' && unit.lastError === null && unit.rows === 0 ? unit : undefined;
  }

  /** True for a range of days that are looked at again and had no rows before: that it has none again is no surprise. */
  isKnownEmpty({ stream, days }: DayBatch): boolean {
    const { ledger, isLook } = this.#options;
    return days.every((day) => isLook({ stream, day }) && ledger.of(stream, day)?.rows === 0);
  }

  /** The commit of a day whose answers were the same as before: its content is stored already. */
  commitUnchanged({ unit, answersSha256 }: KnownDay, requests: number): DayCommit {
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

  #commitOf(day: NormalizedDay, pulled: Pulled & { readonly isOwn: boolean }): DayCommit {
    const { rule, runId, clock, force, ledger } = this.#options;
    const { warnings, quarantined } = day.findings;
    // An answer with findings is read each time, so that they are reported each time.
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

  /**
   * The commit of a unit that was reopened, if its answer has other content than the looks had found: it is a look, what is stored
   * stays, and the unit is settled as before. Undefined for other answers.
   */
  #asLook({ stream, day, contentSha256, quarantined, rewrite, requests }: DayCommit): DayCommit | undefined {
    const unit = this.#options.ledger.of(stream, day);
    const stored = unit?.contentSha256 ?? null;
    if (unit === undefined || stored === null || rewrite === true) return undefined;
    const digests = [contentSha256, heldSha256(contentSha256, quarantined)];
    if (!isOtherThanLooked(parseNotes(unit.watch), stored, digests)) return undefined;
    const { answersSha256: _, ...unchanged } = this.commitUnchanged(
      { unit: { ...unit, contentSha256: stored }, answersSha256: '' },
      requests,
    );
    const state = unit.state === 'awaiting' ? 'awaiting' : 'loaded';
    return { ...unchanged, state, otherSha256: contentSha256 };
  }

  /** The commit with the age of its held records, which decides when the unit settles with them. */
  async #aged(commit: DayCommit): Promise<DayCommit> {
    if (commit.quarantined.length === 0) return commit;
    const { warehouse, orgId } = this.#options;
    const about = { warehouse, orgId, unit: commit, now: commit.pulledAt };
    return { ...commit, ...(await withAge(commit.quarantined, about)) };
  }

  #judge(commit: DayCommit, { findings, absentUsers = 0 }: NormalizedDay) {
    const { warehouse, ledger, clock, acceptLoss, isPlanned, looks, watch } = this.#options;
    const { orgId, stream, day } = commit;
    return judgeDay(commit, {
      warehouse,
      known: ledger.of(stream, day) ?? pendingUnit(dayKey(orgId, commit)),
      ...{ setAside: findings.setAside, absentUsers },
      active: looks.activeUsers(day),
      isActiveDue: isPlanned({ stream: 'activity', day }) && looks.isOpen(day),
      acceptsLoss: acceptLoss && this.#doubtedAtStart.has(unitName(commit)),
      now: clock.now(),
      onLeavers: (before) => watch.recordLeavers(before),
    });
  }

  /** True for a day without rows in a range, unless an earlier answer for the day alone had the same content. */
  #isOpenGap({ stream, day, contentSha256, isOwn }: DayCommit): boolean {
    const known = this.#options.ledger.of(stream, day);
    return !isOwn && (known === undefined || parseNotes(known.watch).own !== contentSha256);
  }

  /** Compares a settled unit with what the service says now. */
  async #compare(day: NormalizedDay): Promise<void> {
    const { watch, warehouse } = this.#options;
    const unit = watch.settled(day.unit);
    if (unit === undefined) return;
    const { contentSha256, quarantined } = this.#commitOf(day, {
      requests: 0,
      answersSha256: null,
      isOwn: false,
    });
    const isHeld = day.findings.held.length > 0;
    // The stored rows of held keys hide what has changed: keys are held that were not, or are no longer.
    const seen =
      isHeld === (unit.state === 'quarantined')
        ? await compareSettledDay(warehouse, unit, { day, contentSha256 })
        : ({ sha256: heldSha256(contentSha256, quarantined), by: 'rows' } as const);
    watch.recordLook({ unit, by: 'rows', seen });
  }

  /** Compares the other days of a range without rows, as if each had been answered without rows like this day. */
  async #compareOthers(day: NormalizedDay, others: readonly UtcDay[]): Promise<void> {
    const { stream } = day.unit;
    for (const other of others) {
      if (other !== day.unit.day) await this.#compare({ ...day, unit: { stream, day: other } });
    }
  }
}

/** A digest of content and of the records that were held beside it. */
function heldSha256(contentSha256: string, records: readonly QuarantinedRecord[]): string {
  const names = records.map(({ recordSha256 }) => recordSha256).toSorted();
  return createHash('sha256')
    .update([contentSha256, ...names].join(' '))
    .digest('hex');
}

function rowsOf({ tables }: NormalizedDay): number {
  return tables.reduce((sum, { count }) => sum + count, 0);
}
