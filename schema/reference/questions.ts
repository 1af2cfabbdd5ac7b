import type { Question } from './question.ts';
import { questionsAboutPeople } from './questions-about-people.ts';
import { questionsAboutUse } from './questions-about-use.ts';

export { commandOf, isMetricCall, type MetricCall, type Question } from './question.ts';

/** The questions of docs/questions.md, in its order: those without a command at the end. Each SELECT gives the same rows on both databases. */
export const questions: readonly Question[] = [...questionsAboutPeople, ...questionsAboutUse].toSorted(
  (a, b) => Number(a.ask === undefined) - Number(b.ask === undefined),
);

/** What the SELECT of a question needs before it answers for another warehouse. */
export const QUESTION_SCOPE =
  'The days are those of the demo: replace them. Of several organizations, choose one with WHERE org_id = …, or all are added up.';
