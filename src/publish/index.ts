/** The writer of Parquet is loaded when something is published. */

export type { Batch, LakeColumn, LakeType } from './parquet-columns.ts';
export type { LakeReport } from './publish.ts';

type Lakes = typeof import('./publish.ts');
type Parquet = typeof import('./write-parquet.ts');

export const publishLake: Lakes['publishLake'] = async (...given) =>
  (await import('./publish.ts')).publishLake(...given);

export const writeParquet: Parquet['writeParquet'] = async (...given) =>
  (await import('./write-parquet.ts')).writeParquet(...given);
