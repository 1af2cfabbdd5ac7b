import type { Question } from './question.ts';
import { questionsAboutPeople } from './questions-about-people.ts';
import { questionsAboutUse } from './questions-about-use.ts';

export { commandOf, isMetricCall, type MetricCall, type Question } from './question.ts';

/** The questions of docs/questions.md, in its order: those without a command at the end. Each SELECT gives the same rows on both databases. */
export const questions: readonly Question[] = [...questionsAboutPeople, ...questionsAboutUse].toSorted(
  (a, b) => Number(a.ask === undefined) - Number(b.ask === undefined),
);
