import { createHash } from 'node:crypto';
import { UsageError } from '../../core/errors.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { checkBudgets } from '../../metrics/money/budget-check.ts';
import type { BudgetStatus } from '../../metrics/money/judge-budget.ts';
import { selectBudgets, selectPrices } from '../../metrics/money/stored-money.ts';
import { isDayUnit, type Warehouse } from '../../warehouse/port.ts';
import { selectPeople } from '../../warehouse/rollups/people-digest.ts';

/** Teams with a budget by the state of the budget; empty if there is nothing to check. */
export type BudgetStates = ReadonlyMap<BudgetStatus, number>;

/** Reads the states of the budgets of an organization. Call in a snapshot. */
export type BudgetReader = (warehouse: Warehouse, orgId: string) => Promise<BudgetStates>;

const NONE: BudgetStates = new Map();

/**
 * Creates a reader that computes the states again only when something that they depend on has changed: while a run commits
 * other days and streams, a check of a large organization would take most of the time of a scrape.
 */
export function createBudgetReader(): BudgetReader {
  const known = new Map<string, { readonly basis: string; readonly states: BudgetStates }>();
  return async (warehouse, orgId) => {
    const budgets = await warehouse.select(selectBudgets(orgId));
    if (budgets.length === 0) return NONE;
    const basis = await basisOf(warehouse, orgId, budgets);
    const earlier = known.get(orgId);
    if (earlier?.basis === basis) return earlier.states;
    const states = await readStates(warehouse, orgId);
    known.set(orgId, { basis, states });
    return states;
  };
}

/** The digest of everything that a check reads: budgets, prices, people, and the days of users by their content. */
async function basisOf(warehouse: Warehouse, orgId: string, budgets: unknown): Promise<string> {
  const prices = await warehouse.select(selectPrices(orgId));
  const people = await warehouse.select(selectPeople(orgId));
  // The same list as that of the status, which the snapshot remembers.
  const units = await warehouse.units(orgId, DAILY_STREAMS);
  const days = units
    .filter(isDayUnit)
    .filter(({ stream }) => stream === 'users')
    .map(({ day, state, rows, contentSha256, settledAt }) => [day, state, rows, contentSha256, settledAt]);
  return createHash('sha256')
    .update(JSON.stringify([budgets, prices, people, days]))
    .digest('hex');
}

/** Without a loaded day, or a budget for its month, there is nothing to check. */
async function readStates(warehouse: Warehouse, orgId: string): Promise<BudgetStates> {
  const counts = new Map<BudgetStatus, number>();
  try {
    const { teams } = await checkBudgets(warehouse, orgId, undefined);
    for (const { status } of teams) counts.set(status, (counts.get(status) ?? 0) + 1);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
  return counts;
}
