export type { PlacedFile } from './file-place.ts';
export { writeCopy } from './write-file.ts';
