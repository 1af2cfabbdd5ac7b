import type { AnyTable, TableRole } from './define.ts';
import {
  activityDaily,
  activityDailyByClient,
  productivityDaily,
  productivityDailyByExtension,
  productivityDailyByLanguage,
  tokensDaily,
  tokensDailyByModel,
  tokensDailyByUser,
  tokensDailyByUserModel,
  toolsDaily,
  toolsDailyByHook,
  toolsDailyByMcpServer,
  toolsDailyBySkill,
  toolsDailyBySlashCommand,
  toolsDailyByTool,
  userDaily,
  userDailyLanguages,
} from './tables/daily.ts';
import {
  acts,
  archives,
  erased,
  exportRuns,
  exportState,
  exportUnits,
  identity,
  organizations,
  quarantine,
  restatements,
  schemaDrift,
} from './tables/ledger.ts';
import {
  budgets,
  contracts,
  events,
  hookEvents,
  people,
  prices,
  publishedWeeks,
  readinessReportApps,
  readinessReportCriteria,
  readinessReports,
  sessions,
} from './tables/records.ts';
import {
  dates,
  orgMonthly,
  rollupMarks,
  teamDaily,
  teamModelDaily,
  userEmails,
  userMonthly,
  userMonthlyLanguages,
  users,
  userTeams,
  userWeekly,
} from './tables/rollups.ts';

export {
  activityDaily,
  activityDailyByClient,
  CREDIT_COLUMNS,
  tokensDailyByModel,
  userDaily,
} from './tables/daily.ts';
export { WITHHELD_RECORD } from './tables/ledger.ts';
export { ROLLUP_SUMS } from './tables/rollups.ts';

/**
 * Every table of the warehouse, by its name in the code. Documentation and digests use this order: the tables of a stream
 * are together, the day itself before its breakdowns.
 */
export const tables = {
  tokensDaily,
  tokensDailyByModel,
  tokensDailyByUser,
  tokensDailyByUserModel,
  toolsDaily,
  toolsDailyByTool,
  toolsDailyByMcpServer,
  toolsDailyBySkill,
  toolsDailyBySlashCommand,
  toolsDailyByHook,
  activityDaily,
  activityDailyByClient,
  productivityDaily,
  productivityDailyByExtension,
  productivityDailyByLanguage,
  userDaily,
  userDailyLanguages,
  readinessReports,
  readinessReportApps,
  readinessReportCriteria,
  sessions,
  hookEvents,
  exportUnits,
  exportRuns,
  restatements,
  quarantine,
  schemaDrift,
  exportState,
  organizations,
  contracts,
  erased,
  identity,
  acts,
  archives,
  people,
  prices,
  budgets,
  events,
  publishedWeeks,
  dates,
  users,
  userWeekly,
  userMonthly,
  userMonthlyLanguages,
  orgMonthly,
  teamDaily,
  teamModelDaily,
  userTeams,
  userEmails,
  rollupMarks,
} as const;

/** Every table, in the order of {@link tables}. */
export const allTables: readonly AnyTable[] = Object.values(tables);

/** The tables that the units of a stream fill, parents before children. */
export function tablesOf(stream: string): AnyTable[] {
  return allTables.filter((table) => table.stream === stream);
}

const CONTENT: ReadonlySet<TableRole> = new Set(['fact', 'readiness', 'event']);

/** The tables with data of the service and its clients. Digests cover their content. */
export const contentTables: readonly AnyTable[] = allTables.filter((table) => CONTENT.has(table.role));

/** The tables that cannot be recomputed from others: all but the rollups. */
export const sourceTables: readonly AnyTable[] = allTables.filter((table) => table.role !== 'rollup');

/**
 * The tables that are never published: with the keys of the pseudonyms, readers could test addresses against them, and a record in
 * quarantine is raw. The last three are about this warehouse alone; a published copy has an identity of its own.
 */
export const unpublishedTables: readonly AnyTable[] = [
  erased,
  exportState,
  quarantine,
  identity,
  acts,
  archives,
];

/** The tables that a copy makes equal. A copy is another warehouse than its source, and the rollups are computed again. */
export const copiedTables: readonly AnyTable[] = sourceTables.filter((table) => table !== tables.identity);

/** The tables of a lake: the sources, and the teams of users, which a reader could not compute without much work. */
export const publishedTables: readonly AnyTable[] = [...sourceTables, tables.userTeams].filter(
  (table) => !unpublishedTables.includes(table),
);
