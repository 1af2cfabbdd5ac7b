import { lossOf } from '../../../src/judge/doubt.ts';
import { lookAtRows } from '../../../src/judge/watch.ts';
import { afterWatch } from '../../../src/judge/watch-plan.ts';
import { settleDay } from '../../../src/ledger/transitions.ts';
import { RULES, type Rules } from './rules.ts';

/** Rules with one fault each, by a description of the fault. */
export const MUTATIONS = {
  'a difference is believed at the first look': {
    ...RULES,
    lookAtRows: (notes, seen, rule) => ({ ...lookAtRows(notes, seen, rule), isConfirmed: seen !== null }),
  },
  'nothing is watched': { ...RULES, planWatch: () => null },
  'no day is reopened': { ...RULES, reopenedDays: () => [] },
  'no loss is doubted': { ...RULES, lossOf: () => null },
  'a loss is accepted at once': { ...RULES, weighLoss: () => ({ verdict: 'accept' }) },
  'users may be fewer than the active ones': {
    ...RULES,
    lossOf: ({ users: _users, ...comparison }) => lossOf(comparison),
  },
  'a unit settles without the others of its day': {
    ...RULES,
    settleDay: (changed, _known, rule, committed) =>
      changed.flatMap((unit) => settleDay([unit], [], rule, committed)),
  },
  'a commit leaves the other units of its day alone': {
    ...RULES,
    settleDay: (changed, known, rule, committed) =>
      settleDay(changed, known, rule, committed).slice(0, changed.length),
  },
  'a difference that changed no row never counts again': {
    ...RULES,
    lookAtRows: ({ reopenedAt: _reopenedAt, ...notes }, seen, rule) => lookAtRows(notes, seen, rule),
  },
  'a look that fails for good holds the watch up': {
    ...RULES,
    afterWatch: (before, plan, run) => (run.isComplete ? afterWatch(before, plan, run) : before),
  },
} as const satisfies Readonly<Record<string, Rules>>;
