import { daysBetween, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { askAgain, type SettleRule } from '../../../src/judge/agreement.ts';
import { doubtText, lossOf, parseDoubt, weighLoss } from '../../../src/judge/doubt.ts';
import { LOOKS } from '../../../src/judge/looks.ts';
import { notesText, parseNotes } from '../../../src/judge/notes.ts';
import { isOtherThanLooked, lookAtRows } from '../../../src/judge/watch.ts';
import {
  applyDoubt,
  applyFailure,
  applyLook,
  applyReopening,
  planCommit,
  settleDay,
} from '../../../src/ledger/transitions.ts';
import { dayKey, type LedgerDay, pendingUnit } from '../../../src/units/unit.ts';

export const DAY: UtcDay = parseDay('2026-02-01');
const SETTLE_DAYS = 3;

/** The rows of each content that the service may answer with. */
const KEYS = { first: ['1', '2', '3'], other: ['1', '2', '4'], nothing: [] } as const;
/** What a unit holds, or an answer has. */
export type Content = keyof typeof KEYS;

/**
 * What one night brings: an answer, the first one with a record that is set aside, one of which all records are, a failure, or no
 * run.
 */
export const NIGHTS = ['first', 'other', 'nothing', 'held', 'all-held', 'failure', 'no-run'] as const;
export type Night = (typeof NIGHTS)[number];
type Answered = Exclude<Night, 'no-run'>;

/** A unit after some nights, and what they brought. */
export interface Life {
  readonly unit: LedgerDay;
  /** Another stream of the day, with rows or without. */
  readonly other: LedgerDay;
  /** The last night on which something could be answered. */
  readonly today: UtcDay;
  /** The answers, oldest first, with the day on which each came. One with records that are set aside is another one. */
  readonly answers: readonly (readonly [UtcDay, Content | 'held' | 'all-held'])[];
  /** True if the last night recorded a restatement. */
  readonly restated: boolean;
}

/** The unit before its first answer, on a night when its day is some days old; another stream of the day was answered already. */
export function bornAt(ageDays: number, companion: 'active' | 'idle'): Life {
  const other = { ...pendingUnit(dayKey('org', { stream: 'tokens', day: DAY })), attempts: 1 };
  const at = `${shiftDay(DAY, ageDays)}T02:00:00.000Z`;
  const answered = { ...other, firstLoadedAt: at, lastPulledAt: at, changedAt: at, runId: 'run 0' };
  const active: LedgerDay = {
    ...answered,
    state: 'loaded',
    rows: 3,
    contentSha256: 'active',
    settledAt: at,
    confirmed: 'data',
  };
  const idle: LedgerDay = {
    ...answered,
    state: 'empty',
    contentSha256: 'nothing',
    settledAt: at,
    confirmed: 'agreed',
  };
  return {
    unit: pendingUnit(dayKey('org', { stream: 'tools', day: DAY })),
    other: companion === 'active' ? active : idle,
    today: shiftDay(DAY, ageDays - 1),
    answers: [],
    restated: false,
  };
}

/** The content that a unit holds; null before its first answer, and once it has expired. */
export function contentOf({ contentSha256 }: LedgerDay): Content | null {
  const name = contentSha256?.replace(' held', '');
  return name === 'first' || name === 'other' || name === 'nothing' ? name : null;
}

/** The life after one more night. Open units are pulled and settled ones compared, as a run does with the functions of the program. */
export function liveOn(life: Life, night: Night): Life {
  const today = shiftDay(life.today, 1);
  const now = new Date(`${today}T03:00:00.000Z`);
  const rule: SettleRule = { today, settleDays: SETTLE_DAYS };
  const { unit } = life;
  const next = { ...life, today, restated: false };
  if (night === 'no-run') return next;
  if (unit.settledAt !== null) return compared(next, night, { now, rule });
  if (askAgain(unit, { now, settleDays: SETTLE_DAYS }) === 'not now') return next;
  return pulled(next, night, { now, rule });
}

interface Tonight {
  readonly now: Date;
  readonly rule: SettleRule;
}

/** The watch compares a settled unit; once it has seen enough equal looks, the unit is opened and pulled. */
function compared(life: Life, night: Answered, tonight: Tonight): Life {
  // Records that are set aside are compared as what is left.
  if (night === 'failure' || isHeld(night)) return life;
  const { unit, today } = life;
  const content = night;
  const answers = [...life.answers, [today, content] as const];
  const seen = content === contentOf(unit) ? null : ({ sha256: content, by: 'rows' } as const);
  const { contentSha256: stored } = unit;
  const look = lookAtRows(parseNotes(unit.watch), seen, { stored, looksMin: LOOKS, now: tonight.now });
  const after = applyLook(unit, { ...unit, contentSha256: stored, watch: notesText(look.notes) });
  if (!look.isConfirmed) return { ...life, unit: after, answers };
  return pulled({ ...life, unit: applyReopening(after) }, content, tonight);
}

function pulled(life: Life, night: Answered, { now, rule }: Tonight): Life {
  const { unit, other, today } = life;
  const key = { ...unit };
  const pull = { requests: 1, pulledAt: now, rule };
  if (night === 'failure') {
    return {
      ...life,
      unit: together(
        applyFailure(unit, { unit: key, state: 'failed', error: 'HTTP 500', ...pull }),
        other,
        rule,
        false,
      ),
    };
  }
  // What is stored under a key whose record is set aside stays.
  const left = night === 'all-held' ? (contentOf(unit) ?? 'nothing') : 'first';
  const content: Content = isHeld(night) ? left : night;
  const answers = [...life.answers, [today, night] as const];
  const doubt = doubtIn(unit, content, now);
  if (doubt !== null) {
    const seen = { unit: key, contentSha256: content, doubt: doubtText(doubt), since: doubt.since };
    return { ...life, answers, unit: together(applyDoubt(unit, { ...seen, ...pull }), other, rule, false) };
  }
  const isOther = isOtherThanLooked(parseNotes(unit.watch), unit.contentSha256, [content]);
  const active = content === 'nothing' ? 'awaiting' : 'loaded';
  const answered = {
    ...{ contentSha256: content, rows: KEYS[content].length },
    state: isHeld(night) ? ('quarantined' as const) : active,
  } as const;
  const asLook = {
    ...{ contentSha256: unit.contentSha256 ?? '', rows: unit.rows, otherSha256: content },
    state: unit.state === 'awaiting' ? 'awaiting' : 'loaded',
  } as const;
  const { after, restated } = planCommit(unit, {
    ...{ ...unit, ...pull, isOwn: true, runId: `run ${today}`, activeUsers: null },
    ...{ quarantined: [], drift: [], kind: 'day' },
    ...(isOther ? asLook : answered),
    ...(isHeld(night) && { heldSince: heldSince(life, today) }),
  });
  return { ...life, answers, restated, unit: together(after, other, rule, true) };
}

function isHeld(night: Night): night is 'held' | 'all-held' {
  return night === 'held' || night === 'all-held';
}

/** The first of the nights in a row on which the record was set aside. */
function heldSince({ unit }: Life, today: UtcDay): UtcDay {
  return unit.state === 'quarantined' ? (parseNotes(unit.watch).heldSince ?? today) : today;
}

function doubtIn(unit: LedgerDay, content: Content, now: Date) {
  const stored = contentOf(unit);
  if (unit.rows === 0 || stored === null || stored === content) return null;
  const present: readonly string[] = KEYS[content];
  const missing = KEYS[stored].flatMap((name, index) => (present.includes(name) ? [] : [index]));
  const loss = lossOf({ missing, stored: unit.rows, setAside: 0 });
  if (loss === null) return null;
  const weighed = weighLoss(parseDoubt(unit.doubt, unit.doubtedAt), loss, { now, acceptsLoss: false });
  return weighed.verdict === 'accept' ? null : weighed.doubt;
}

function together(unit: LedgerDay, other: LedgerDay, rule: SettleRule, isCommitted: boolean): LedgerDay {
  const [settled = unit] = settleDay([unit], [other], rule, new Set(isCommitted ? [unit.stream] : []));
  return settled;
}

/** What of a life decides about its future: times count by their distance, and who stored something does not count. */
export function essenceOf({ unit, today, answers }: Life): string {
  const {
    attempts: _a,
    requests: _r,
    runId,
    changedAt,
    firstLoadedAt,
    lastPulledAt: _l,
    settledAt,
    ...kept
  } = unit;
  const isFirst = runId !== null && changedAt === firstLoadedAt;
  const flags = { isFirst, isLoaded: firstLoadedAt !== null, isSettled: settledAt !== null };
  return JSON.stringify([Math.min(daysBetween(DAY, today), 40), kept, flags, answers.slice(-3)]);
}

/** How many of the newest answers, each on a day of its own, are this content. */
export function seenInARow({ answers }: Life, content: Content | null): number {
  const newest = answers.toReversed();
  const end = newest.findIndex(([, seen]) => seen !== content);
  return end < 0 ? newest.length : end;
}
