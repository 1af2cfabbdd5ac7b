import { tables } from '../../schema/tables.ts';
import type { Stream } from '../core/stream.ts';
import type { Row, ScanScope } from '../warehouse/port.ts';
import type { Part } from './sides.ts';

const { exportUnits, quarantine, restatements } = tables;
/** Positions of the stream and the day of a unit in these tables. */
const STREAM = 1;
const DATE = 2;

/** Returns which rows of quarantine, restatements and the ledger belong to the units of a stream. */
export function unitRowsOf(stream: Stream, scope: ScanScope): Part[] {
  const isReadiness = stream === 'readiness';
  const keep = (row: Row) => row[STREAM] === stream && (row[DATE] === '') === isReadiness;
  return [quarantine, restatements, exportUnits].map((table) => ({ table, scope, keep }));
}
