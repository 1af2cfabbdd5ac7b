export { LAST_MARKS, listedMarks, listMark, noteAct, PULL } from './marks.ts';
export { type NotedWaits, openPatience, readRunningWaits, type WaitEvent, withPatience } from './waits.ts';
