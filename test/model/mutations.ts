import { lossOf } from '../../src/judge/loss.ts';
import { afterWatch, lookAt, REOPEN_AGAIN_AFTER_MS } from '../../src/judge/watch.ts';
import { settledWith } from '../../src/warehouse/ledger.ts';
import { RULES, type Rules } from './rules.ts';

/** Rules with one fault each. */
export const MUTATIONS: Readonly<Record<string, Rules>> = {
  'a difference is believed at the first look': {
    ...RULES,
    lookAt: (notes, by, seen, now) => ({ ...lookAt(notes, by, seen, now), isConfirmed: seen !== null }),
  },
  'nothing is watched': { ...RULES, planWatch: () => null },
  'no day is reopened': { ...RULES, chooseReopened: () => [] },
  'no loss is doubted': { ...RULES, lossOf: () => null },
  'a loss is accepted at once': { ...RULES, weighLoss: () => ({ verdict: 'accept' }) },
  'users may be fewer than the active ones': {
    ...RULES,
    lossOf: ({ users: _users, ...comparison }) => lossOf(comparison),
  },
  'a difference that changed nothing never counts again': {
    ...RULES,
    lookAt: (notes, by, seen, now) =>
      lookAt(
        notes.reopenedFor === undefined ? notes : { ...notes, reopenedAt: now.toISOString() },
        by,
        seen,
        now,
      ),
  },
  'a failed look holds the watch up': {
    ...RULES,
    afterWatch: (before, plan, run) => (run.isComplete ? afterWatch(before, plan, run) : before),
  },
  'a day settles stream by stream': {
    ...RULES,
    settledWith: (changed, _known, rule, committed) =>
      changed.flatMap((unit) => settledWith([unit], [], rule, committed)),
  },
  'only the unit that is committed is settled': {
    ...RULES,
    settledWith: (changed, known, rule, committed) =>
      settledWith(changed, known, rule, committed).slice(0, changed.length),
  },
};
void REOPEN_AGAIN_AFTER_MS;
