import type { UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import type { SettleRule } from '../../../src/judge/agreement.ts';
import { doubtText, type StandingDoubt } from '../../../src/judge/doubt.ts';
import {
  applyCommit,
  applyDoubt,
  applyFailure,
  applyLook,
  applyReopening,
  type UnitNotes,
} from '../../../src/ledger/transitions.ts';
import { KnownLedger } from '../../../src/pipeline/run/known-ledger.ts';
import { type DayCommit, dayKey, type LedgerDay, pendingUnit } from '../../../src/units/unit.ts';
import { type Content, digestOf, NO_ROW } from './content.ts';
import type { Rules } from './rules.ts';

export const ORG = 'org_1';

/** Thrown when the process is killed. */
export class Killed extends Error {}

/** A day to store: the commit that the rules see, and the content that represents its rows. */
export interface ModelCommit extends DayCommit {
  readonly content: Content;
}

/** True for a commit of the model. */
export function isModelCommit(commit: object): commit is ModelCommit {
  return 'content' in commit;
}

/** A warehouse in memory. Every write is a transaction; the process may be killed before it. */
export class Memory {
  readonly ledger = new KnownLedger([]);
  readonly #contents = new Map<string, Content>();
  readonly #rules: Rules;
  watchState: string | null = null;
  /** Whether the service alternates between answers, as a run stores it. */
  flapping: string | null = null;
  /** Since when an organization is active; null before. @default every pull counts */
  activeSince: string | null | undefined;
  /** The day on which a record first came that is held, by unit and record. */
  readonly heldSince = new Map<string, UtcDay>();
  /** Writes left until the process is killed. */
  writesLeft = Number.POSITIVE_INFINITY;
  /** Called for every content that replaces another one. */
  onReplaced: (unit: LedgerDay, before: Content, after: Content) => void = () => undefined;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  unit(stream: DailyStream, day: UtcDay): LedgerDay {
    return this.ledger.of(stream, day) ?? pendingUnit(dayKey(ORG, { stream, day }));
  }

  content(stream: DailyStream, day: UtcDay): Content {
    return this.#contents.get(`${stream} ${day}`) ?? NO_ROW;
  }

  commit(commit: ModelCommit): void {
    this.#begin();
    const { stream, day, content } = commit;
    const before = this.unit(stream, day);
    const after = applyCommit(before, { ...commit, rows: content.rows });
    if (before.firstLoadedAt !== null && before.contentSha256 !== digestOf(content))
      this.onReplaced(before, this.content(stream, day), content);
    this.#contents.set(`${stream} ${day}`, content);
    this.#settle(after, commit.rule, true);
  }

  doubt(commit: ModelCommit, { since, ...doubt }: StandingDoubt): void {
    this.#begin();
    const entry = { ...commit, unit: dayKey(ORG, commit), doubt: doubtText(doubt), since };
    this.#settle(applyDoubt(this.unit(commit.stream, commit.day), entry), commit.rule, false);
  }

  fail(stream: DailyStream, day: UtcDay, { pulledAt, rule }: { pulledAt: Date; rule: SettleRule }): void {
    this.#begin();
    const failure = {
      unit: dayKey(ORG, { stream, day }),
      state: 'failed',
      error: 'HTTP 500',
      requests: 1,
    } as const;
    this.#settle(applyFailure(this.unit(stream, day), { ...failure, pulledAt, rule }), rule, false);
  }

  note(notes: readonly UnitNotes[]): void {
    this.#begin();
    for (const each of notes) this.ledger.put([applyLook(this.unit(each.stream, each.day), each)]);
  }

  reopen(days: readonly { readonly day: UtcDay; readonly streams: readonly DailyStream[] }[]): void {
    this.#begin();
    for (const { day, streams } of days)
      for (const stream of streams) {
        const unit = this.unit(stream, day);
        if (unit.state !== 'pending') this.ledger.put([applyReopening(unit)]);
      }
  }

  /** Settles the empty days that waited until the organization was active. */
  settleWaiting(rule: SettleRule): void {
    for (const unit of this.ledger.days())
      if (unit.state === 'awaiting') this.#settle(this.unit(unit.stream, unit.day), rule, false);
  }

  remember(state: string): void {
    this.#begin();
    this.watchState = state;
  }

  #begin(): void {
    if (this.writesLeft <= 0) throw new Killed();
    this.writesLeft -= 1;
  }

  #settle(changed: LedgerDay, rule: SettleRule, isCommitted: boolean): void {
    const { day } = changed;
    const known = DAILY_STREAMS.map((stream) => this.unit(stream, day));
    const committed = new Set(isCommitted ? [changed.stream] : []);
    this.ledger.put(this.#rules.settleDay([changed], known, rule, committed));
  }
}
