import type { AnyTable } from '../../schema/define.ts';
import { readerOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import type { Stream } from '../core/stream.ts';
import type { ScanScope, Values } from '../warehouse/port.ts';
import type { Part } from './sides.ts';

const { exportUnits, quarantine, restatements } = tables;

/** Returns which rows of quarantine, restatements and the ledger belong to the units of a stream. */
export function unitRowsOf(stream: Stream, scope: ScanScope): Part[] {
  const isReadiness = stream === 'readiness';
  return [quarantine, restatements, exportUnits].map((table: AnyTable) => {
    const streamOf = readerOf(table, 'stream');
    const dateOf = readerOf(table, 'date');
    const keep = (row: Values) => streamOf(row) === stream && (dateOf(row) === '') === isReadiness;
    return { table, scope, keep };
  });
}
