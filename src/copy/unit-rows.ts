import { tables } from '../../schema/tables.ts';
import type { Stream } from '../core/stream.ts';
import type { Row, ScanScope } from '../warehouse/port.ts';
import type { Part } from './sides.ts';

const { exportUnits, quarantine, restatements } = tables;
/** Where these tables have the stream and the day of a unit. */
const STREAM = 1;
const DATE = 2;

/** The rows that the exporter keeps of units of a stream: quarantine, restatements, and the ledger itself. */
export function unitRowsOf(stream: Stream, scope: ScanScope): Part[] {
  const isReadiness = stream === 'readiness';
  const keep = (row: Row) => row[STREAM] === stream && (row[DATE] === '') === isReadiness;
  return [quarantine, restatements, exportUnits].map((table) => ({ table, scope, keep }));
}
