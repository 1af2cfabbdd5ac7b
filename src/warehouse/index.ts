export { digestOf, type WarehouseDigest } from './digest.ts';
export { type KeptWarehouse, keepOpen } from './kept-open.ts';
export {
  expectWhole,
  expectWritable,
  notesIn,
  type OpenOptions,
  openWarehouse,
  readWarehouse,
  takeLock,
  type WriteNotes,
  withWarehouse,
} from './open.ts';
export { schemaVersion } from './schema-version.ts';
