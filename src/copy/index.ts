export { copyAll } from './copy.ts';
export type { CopiedTable, CopyEvent, CopyReport } from './events.ts';
export { completeFilling } from './own-rows.ts';
export { canonicalRow, inTurns } from './sides.ts';
