export { digestOf, type WarehouseDigest } from './digest.ts';
export { frozen, type KeptWarehouse, keepOpen } from './kept-open.ts';
export { expectWhole, type OpenOptions, openWarehouse, takeLock, withWarehouse } from './open.ts';
