import { readerOf } from '../../../schema/row.ts';
import { tables as schema } from '../../../schema/tables.ts';
import { readinessPage } from '../../api/walk/pages.ts';
import type { EmailPolicy } from '../../privacy/email.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { Findings } from '../findings.ts';
import { normalizePage } from '../run/readiness/store-page.ts';
import type { ArchivedReadings } from './archived-readings.ts';
import type { ReplayOutcome } from './replay-day.ts';

const reportId = readerOf(schema.readinessReports, 'report_id');

/** The archived readiness reports of an organization. */
export interface ReplayReadiness {
  readonly orgId: string;
  /** When the last of them was pulled. */
  readonly pulledAt: Date;
  /** Where the walk stood then, as the ledger stores it. */
  readonly cursor: string;
  readonly emails: EmailPolicy['mode'];
  /** The texts of the reports, in pages. */
  readonly pages: () => AsyncIterable<readonly string[]>;
}

/** Stores archived readiness reports in place of the stored ones, unless those were pulled later. */
export async function replayReadiness(
  { orgId, pulledAt, cursor, emails, pages }: ReplayReadiness,
  { warehouse, runId, readings }: { warehouse: Warehouse; runId: string; readings: ArchivedReadings },
): Promise<ReplayOutcome> {
  const { privacy, newAddresses } = readings.of(emails);
  const lastPulledAt = (await warehouse.readinessUnit(orgId))?.lastPulledAt ?? null;
  if (lastPulledAt !== null && lastPulledAt > pulledAt.toISOString()) return { kind: 'newer' };
  const seen = { reports: new Set<string>(), quarantine: new Set<string>() };
  const step = { orgId, cursor, pulledAt, runId, requests: 0 };
  let rowsWritten = 0;
  for await (const texts of pages()) {
    const findings = new Findings(privacy);
    const text = privacy.erase(`{"reports":[${texts.join(',')}]}`);
    const answer = { status: 200, text, body: JSON.parse(text), requestId: undefined };
    const tables = normalizePage(readinessPage(answer, 'archived reports'), { orgId, privacy }, findings);
    for (const { table, rows } of tables)
      if (table === schema.readinessReports) for (const row of rows) seen.reports.add(String(reportId(row)));
    for (const { recordSha256 } of findings.quarantined) seen.quarantine.add(recordSha256);
    const { quarantined, drift } = findings;
    await newAddresses.list();
    rowsWritten += (await warehouse.commitReadinessPage({ ...step, tables, quarantined, drift })).rowsWritten;
  }
  const end = { ...step, seenReportIds: seen.reports, seenQuarantine: seen.quarantine };
  rowsWritten += (await warehouse.endReadinessWalk(end)).rowsWritten;
  return rowsWritten === 0 && lastPulledAt !== null ? { kind: 'same' } : { kind: 'stored', rowsWritten };
}
