export { OTHERS, WEEK_DIMENSIONS } from './blocks.ts';
export {
  FIRST_WEEK,
  previewTeams,
  publishWeeks,
  readPersonFinder,
  type TeamPreview,
} from './publish-weeks.ts';
export {
  largeEnough,
  nearestWeeks,
  publishedCurrencies,
  publishedNumber,
  publishedRows,
  publishedWeeks,
  restatedWeeks,
  type WaitingWeek,
  waitingWeeks,
} from './published.ts';
