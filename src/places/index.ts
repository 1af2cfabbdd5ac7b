export { joinErasures, type KeptOutSince, keptOutSince, shareErasures } from './erasures.ts';
export {
  expectIdentity,
  expectKnownArchives,
  meetArchives,
  notToBeCreated,
  type WarehouseMemory,
  withOwnWarehouse,
} from './meet-archives.ts';
export { expectAllArchives, sweepAfterRun, sweepBeforeRun, sweepOptions } from './sweeps.ts';
