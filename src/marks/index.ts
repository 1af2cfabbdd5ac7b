export {
  forgetWaits,
  hasWaits,
  LAST_MARKS,
  listedMarks,
  listMark,
  type NotedWaits,
  noteAct,
  noteHosts,
  noteWait,
  PULL,
  readHosts,
  readRunningWaits,
} from './marks.ts';
