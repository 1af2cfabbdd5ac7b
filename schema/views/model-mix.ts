import { day, key, label, metric, orgColumn, ratio, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';

const select = (cast: Cast) => `
SELECT org_id, date, model_id, model_tier, billable_tokens,
  ${cast('billable_tokens * 1.0 / NULLIF(SUM(billable_tokens) OVER (PARTITION BY org_id, date), 0)', 'REAL')} AS share
FROM tokens_daily_by_model
`;

export const modelMix = {
  name: 'model_mix',
  doc: 'Credits of each model by day, and their share of the credits of all models on that day.',
  columns: {
    ...orgColumn,
    date: day('UTC day'),
    model_id: key('ID of the model'),
    model_tier: label('tier of the model'),
    billable_tokens: metric('credits consumed'),
    share: ratio("share of the day's credits, 0 to 1; NULL on a day without credits"),
  },
  select: { sqlite: select(castInSqlite), postgres: select(plain) },
} satisfies View;
