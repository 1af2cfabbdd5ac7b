import type { View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';
import { RANKED_REPORTS, reportScores, scoreColumns } from './readiness-scores.ts';

const select = (cast: Cast) => `
WITH ${RANKED_REPORTS}
${reportScores(cast, { from: 'ranked', where: 'r.recency = 1' })}
`;

export const readinessLatest = {
  name: 'readiness_latest',
  doc: 'The latest report of each repository. Its score is the mean of numerator / denominator over the evaluated criteria.',
  columns: scoreColumns,
  select: { sqlite: select(castInSqlite), postgres: select(plain) },
} satisfies View;
