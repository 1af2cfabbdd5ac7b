/** The writers of lakes are loaded when something is published. */

export type { DeltaReport, RenewedLakes } from './delta-lake.ts';
export type { Batch, LakeColumn, LakeType } from './parquet-columns.ts';
export type { LakeReport } from './publish.ts';

type Deltas = typeof import('./delta-lake.ts');
type Lakes = typeof import('./publish.ts');
type Parquet = typeof import('./write-parquet.ts');

export const publishLake: Lakes['publishLake'] = async (...given) =>
  (await import('./publish.ts')).publishLake(...given);

export const writeParquet: Parquet['writeParquet'] = async (...given) =>
  (await import('./write-parquet.ts')).writeParquet(...given);

export const publishDelta: Deltas['publishDelta'] = async (...given) =>
  (await import('./delta-lake.ts')).publishDelta(...given);

export const lakesThere: Deltas['lakesThere'] = async (...given) =>
  (await import('./delta-lake.ts')).lakesThere(...given);

export const renewLakes: Deltas['renewLakes'] = async (...given) =>
  (await import('./delta-lake.ts')).renewLakes(...given);
