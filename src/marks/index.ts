export { LAST_MARKS, listedMarks, listMark, noteAct, PULL } from './marks.ts';
