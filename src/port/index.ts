export { ChunkReader } from './chunk-reader.ts';
export { isPostgres, isSameWarehouse, schemeOf } from './location.ts';
export {
  changeRows,
  countWritten,
  type FoundRows,
  type GoneRows,
  isStatement,
  type Locked,
  type NewRows,
  type QueryRow,
  runReads,
  type Steps,
  scanRowsMax,
  writtenRows,
} from './steps.ts';
export {
  frozen,
  type LedgerStep,
  type LedgerSteps,
  type LockOptions,
  RESTORING,
  type RunLock,
  type ScanScope,
  unchanging,
  type Warehouse,
} from './warehouse.ts';
