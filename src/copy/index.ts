export { copyAll } from './copy.ts';
export type { CopiedTable, CopyEvent, CopyReport } from './events.ts';
export { canonicalRow, inTurns } from './sides.ts';
