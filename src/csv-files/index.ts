export {
  BUDGET_STATES,
  type BudgetCheck,
  checkBudgets,
  judgeBudget,
  monthForecast,
} from './budget-check.ts';
export { budgetsFile, storedBudgets } from './budgets.ts';
export { eventsFile } from './events.ts';
export type { Counts, FileScreen, FileTypes, LoadedFile, Wording } from './loaded-file.ts';
export { findMissingPeople, type MissingPeople } from './missing-people.ts';
export { peopleFile } from './people-file.ts';
export { currenciesOf, pricesFile, storedPrices } from './prices.ts';
export { readCsv } from './read-csv.ts';
export { replaceRows } from './replace-rows.ts';
export { isEscapedFormula, unescapeFormula, writeCsv } from './write-csv.ts';

/** How an invoice is read and compared with the warehouse; loaded when it is asked for. */
export const loadInvoices = (): Promise<typeof import('./invoice-check.ts')> => import('./invoice-check.ts');
