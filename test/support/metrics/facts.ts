import type { AnyTable } from '../../../schema/define.ts';
import { decoderOf, type StoredRow } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { collect } from '../warehouse/collect.ts';

/** The rows of an organization that metrics are defined over, as they are stored. No rollup of numbers is among them. */
export interface Facts {
  readonly units: readonly StoredRow<typeof tables.exportUnits>[];
  readonly userDaily: readonly StoredRow<typeof tables.userDaily>[];
  readonly languages: readonly StoredRow<typeof tables.userDailyLanguages>[];
  readonly tokens: readonly StoredRow<typeof tables.tokensDaily>[];
  readonly models: readonly StoredRow<typeof tables.tokensDailyByModel>[];
  readonly toolTotals: readonly StoredRow<typeof tables.toolsDaily>[];
  readonly tools: readonly StoredRow<typeof tables.toolsDailyByTool>[];
  readonly servers: readonly StoredRow<typeof tables.toolsDailyByMcpServer>[];
  readonly skills: readonly StoredRow<typeof tables.toolsDailyBySkill>[];
  readonly slashCommands: readonly StoredRow<typeof tables.toolsDailyBySlashCommand>[];
  readonly hooks: readonly StoredRow<typeof tables.toolsDailyByHook>[];
  readonly activity: readonly StoredRow<typeof tables.activityDaily>[];
  readonly clients: readonly StoredRow<typeof tables.activityDailyByClient>[];
  readonly fileLanguages: readonly StoredRow<typeof tables.productivityDailyByLanguage>[];
  readonly reports: readonly StoredRow<typeof tables.readinessReports>[];
  readonly criteria: readonly StoredRow<typeof tables.readinessReportCriteria>[];
  readonly people: readonly StoredRow<typeof tables.people>[];
  readonly prices: readonly StoredRow<typeof tables.prices>[];
}

/** Reads the rows of an organization. */
export async function factsOf(warehouse: Pick<Warehouse, 'scan'>, orgId: string): Promise<Facts> {
  const read = async <T extends AnyTable>(table: T) =>
    (await collect(warehouse.scan(table, { orgId }))).map(decoderOf(table));
  return {
    units: await read(tables.exportUnits),
    userDaily: await read(tables.userDaily),
    languages: await read(tables.userDailyLanguages),
    tokens: await read(tables.tokensDaily),
    models: await read(tables.tokensDailyByModel),
    toolTotals: await read(tables.toolsDaily),
    tools: await read(tables.toolsDailyByTool),
    servers: await read(tables.toolsDailyByMcpServer),
    skills: await read(tables.toolsDailyBySkill),
    slashCommands: await read(tables.toolsDailyBySlashCommand),
    hooks: await read(tables.toolsDailyByHook),
    activity: await read(tables.activityDaily),
    clients: await read(tables.activityDailyByClient),
    fileLanguages: await read(tables.productivityDailyByLanguage),
    reports: await read(tables.readinessReports),
    criteria: await read(tables.readinessReportCriteria),
    people: await read(tables.people),
    prices: await read(tables.prices),
  };
}
