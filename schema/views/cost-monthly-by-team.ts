import { key, label, metric, orgColumn, type View } from '../define.ts';
import { type CostDialect, costsInPostgres, costsInSqlite, teamDays } from './team-days.ts';

const select = (dialect: CostDialect) => `
WITH ${teamDays(dialect)}
SELECT org_id, month, ${dialect.cast('team', 'TEXT')} AS team, ${dialect.cast('currency', 'TEXT')} AS currency,
  ${dialect.cast('SUM(billable_tokens)', 'REAL')} AS billable_tokens,
  ${dialect.cast('CASE WHEN MAX(MAX(lacks_price)) OVER (PARTITION BY org_id, month, team) = 0 THEN SUM(cost) END', 'REAL')} AS cost
FROM team_costs
GROUP BY org_id, month, team, currency
`;

export const costMonthlyByTeam = {
  name: 'cost_monthly_by_team',
  doc:
    'Credits and cost of each team by month, from the rows of its users: one row per month, team and currency. The teams ' +
    'and unassigned add up to the organization. Teams are those of user_teams, which may lag behind until the next run.',
  columns: {
    ...orgColumn,
    month: key('month, YYYY-MM'),
    team: key('team of the users on each day; unassigned without one'),
    currency: label(
      'ISO 4217 code. Days without a price count under the only currency of the month; NULL if there is none or several',
    ),
    billable_tokens: metric('credits consumed'),
    cost: metric('cost in this currency; NULL if the team has credits on a day of the month without a price'),
  },
  select: {
    sqlite: select(costsInSqlite),
    postgres: select(costsInPostgres),
  },
} satisfies View;
