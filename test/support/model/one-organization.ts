import { createHash } from 'node:crypto';
import { IDENTITIES, sumsOfStream } from '../../../schema/invariants.ts';
import { daysFrom, FIRST_DAY, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { type Change, countIdentities } from '../../../src/judge/identities.ts';
import { notesText, parseNotes } from '../../../src/judge/notes.ts';
import { lookAtRows, sortChanges } from '../../../src/judge/watch.ts';
import { applyCommit, applyReopening, settleDay } from '../../../src/ledger/transitions.ts';
import { KnownLedger } from '../../../src/pipeline/run/known-ledger.ts';
import { dayKey, type LedgerDay, pendingUnit } from '../../../src/units/unit.ts';

/** What a stream says of a day: the one number that all its figures have, or people for users and activity. */
export type Say = (stream: DailyStream, day: UtcDay, night: number) => number;

/** The rules that a test may replace. */
export const IDENTITY_RULES = { countIdentities, sortChanges, settleDay } as const;
export type IdentityRules = typeof IDENTITY_RULES;

const SETTLE_DAYS = 3;

/**
 * One organization under the rules of `src/judge`, with one number per stream and day: no requests, no losses, no failures.
 * Each night pulls what is unsettled and compares what is settled, so that thousands of services take a minute.
 */
export class OneOrganization {
  readonly ledger = new KnownLedger([]);
  readonly #say: Say;
  readonly #rules: IdentityRules;
  readonly #historyDays: number;

  constructor(say: Say, historyDays: number, rules: IdentityRules = IDENTITY_RULES) {
    this.#say = say;
    this.#historyDays = historyDays;
    this.#rules = rules;
  }

  /** The first UTC day that is not over in a night; night 1 is the first. */
  today(night: number): UtcDay {
    return shiftDay(FIRST_DAY, this.#historyDays + night);
  }

  unit(stream: DailyStream, day: UtcDay): LedgerDay {
    return this.ledger.of(stream, day) ?? pendingUnit(dayKey('org', { stream, day }));
  }

  /** Runs a night. */
  night(night: number): void {
    const today = this.today(night);
    const now = new Date(`${today}T03:00:00Z`);
    const settling = { today, settleDays: SETTLE_DAYS };
    const identities = this.#rules.countIdentities(IDENTITIES, this.ledger.days(), settling);
    const rule = { ...settling, identities };
    const commit = (stream: DailyStream, day: UtcDay) => {
      const before = this.unit(stream, day);
      const value = this.#say(stream, day, night);
      const after = applyCommit(before, { ...answer(stream, day, value), rule, pulledAt: now });
      const known = DAILY_STREAMS.map((name) => this.unit(name, day));
      this.ledger.put(this.#rules.settleDay([after], known, rule, new Set([stream])));
    };
    const changes: Change[] = [];
    const noted = new Map<string, LedgerDay>();
    for (const day of daysFrom(FIRST_DAY, shiftDay(today, -1))) {
      for (const stream of DAILY_STREAMS) {
        const unit = this.unit(stream, day);
        if (unit.settledAt === null) {
          commit(stream, day);
          continue;
        }
        const {
          contentSha256: sha256,
          activeUsers,
          figures,
        } = answer(stream, day, this.#say(stream, day, night));
        const seen = sha256 === unit.contentSha256 ? null : ({ sha256, by: 'rows' } as const);
        const look = lookAtRows(parseNotes(unit.watch), seen, {
          stored: unit.contentSha256,
          looksMin: 3,
          now,
        });
        noted.set(`${stream} ${day}`, { ...unit, watch: notesText(look.notes) });
        if (look.isConfirmed) changes.push({ stream, day, sha256, activeUsers, figures, looks: look.notes });
      }
    }
    // Units that were opened again meanwhile are no longer compared.
    this.ledger.put(
      [...noted.values()].filter(({ stream, day }) => this.unit(stream, day).settledAt !== null),
    );
    const { ready, waiting } = this.#rules.sortChanges(changes, (day) => this.ledger.onDay(day), identities);
    for (const { stream, day, breaks } of waiting) {
      const unit = this.unit(stream, day);
      this.ledger.put([{ ...unit, watch: notesText({ ...parseNotes(unit.watch), breaks }) }]);
    }
    this.ledger.put(ready.map(({ stream, day }) => applyReopening(this.unit(stream, day))));
    for (const { stream, day } of ready) commit(stream, day);
  }

  /** The number that is stored. */
  stored(stream: DailyStream, day: UtcDay): number | null {
    const { activeUsers, watch } = this.unit(stream, day);
    return stream === 'users' || stream === 'activity'
      ? activeUsers
      : (parseNotes(watch).figures?.[0] ?? null);
  }
}

function answer(stream: DailyStream, day: UtcDay, value: number) {
  const isOfPeople = stream === 'users' || stream === 'activity';
  return {
    ...({ kind: 'day', orgId: 'org', stream, day, state: 'loaded', rows: 1, requests: 1 } as const),
    ...{ isOwn: true, runId: 'run', quarantined: [], drift: [] },
    contentSha256: createHash('sha256').update(`${stream} ${value}`).digest('hex'),
    activeUsers: isOfPeople ? value : null,
    figures: sumsOfStream(stream).map(() => value),
  };
}
