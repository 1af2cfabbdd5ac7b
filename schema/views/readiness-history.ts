import { ratio, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';
import { reportScores, scoreColumns } from './readiness-scores.ts';

const select = (cast: Cast) => `
WITH scored AS (
${reportScores(cast, { from: 'readiness_reports' })}
), compared AS (
  SELECT scored.*, LAG(score) OVER (PARTITION BY org_id, repo_url ORDER BY created_at, report_id) AS previous_score
  FROM scored
)
SELECT ${Object.keys(scoreColumns).join(', ')},
  ${cast('previous_score', 'REAL')} AS previous_score,
  ${cast('score - previous_score', 'REAL')} AS score_change
FROM compared
`;

export const readinessHistory = {
  name: 'readiness_history',
  doc: 'The score of every report, and its change since the previous report of the repository: one row per report.',
  columns: {
    ...scoreColumns,
    previous_score: ratio(
      'score of the previous report of the repository; NULL for the first one and if nothing was evaluated',
    ),
    score_change: ratio('score minus previous_score; NULL if one of them is NULL'),
  },
  select: { sqlite: select(castInSqlite), postgres: select(plain) },
} satisfies View;
