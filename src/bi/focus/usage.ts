import { sql } from '../../../schema/query.ts';
import { isDay, type UtcDay } from '../../core/day.ts';
import type { Month } from '../../core/month.ts';
import { type NamedQuery, withSql } from '../../metrics/query/select.ts';
import type { QueryRow, Warehouse } from '../../warehouse/port.ts';
import { type Allocation, type Subject, UNALLOCATED } from './charge.ts';

/** Billable tokens of a day: of a user and a model, or of the day's total beyond all of them. */
export interface Usage extends Allocation {
  readonly subject: Subject | null;
  readonly modelTier: string | null;
  readonly tokens: number;
}

/** The sums of a day with rows. */
export interface DaySums {
  readonly day: UtcDay;
  /** The published total of the day; null if none is stored. */
  readonly total: number | null;
  /** The sum over users and models. */
  readonly attributed: number;
  /** True if any number of the day is not 0. */
  readonly hasTokens: boolean;
  /** Rows of users and models without a number of billable tokens. */
  readonly unknownRows: number;
}

/** Tokens are whole numbers as far as is known. A smaller difference between sums comes from rounding. */
const TOKENS_MIN = 0.001;

type Source = Pick<Warehouse, 'select'>;

/** Adds up each day of a month that has rows, in order. */
export async function sumDays(source: Source, orgId: string, { first, last }: Month): Promise<DaySums[]> {
  const rows = await source.select(sql`
    SELECT date, SUM(total) AS total, SUM(attributed) AS attributed, SUM(size) AS size, SUM(unknown_rows) AS unknown_rows
    FROM (
      SELECT date, billable_tokens AS total, NULL AS attributed, ABS(billable_tokens) AS size, 0 AS unknown_rows
      FROM tokens_daily
      WHERE org_id = ${orgId} AND date BETWEEN ${first} AND ${last}
      UNION ALL
      SELECT date, NULL, billable_tokens, ABS(billable_tokens), CASE WHEN billable_tokens IS NULL THEN 1 ELSE 0 END
      FROM tokens_daily_by_user_model
      WHERE org_id = ${orgId} AND date BETWEEN ${first} AND ${last}
    ) AS sums
    GROUP BY date
    ORDER BY date`);
  return rows.flatMap((row) => {
    const day = row['date'];
    if (!isDay(day)) return [];
    return [
      {
        day,
        total: numberIn(row, 'total'),
        attributed: numberIn(row, 'attributed') ?? 0,
        hasTokens: (numberIn(row, 'size') ?? 0) > 0,
        unknownRows: numberIn(row, 'unknown_rows') ?? 0,
      },
    ];
  });
}

/**
 * Reads what each user and model consumed on a day, with the team on that day, and what the day's total has beyond them.
 * @param teams what to read in place of the table `user_teams`.
 */
export async function usageOf(
  source: Source,
  orgId: string,
  { sums, teams }: { readonly sums: DaySums; readonly teams: readonly NamedQuery[] },
): Promise<Usage[]> {
  const usage = sql`
    SELECT u.user_id, u.model_id, u.model_tier, u.billable_tokens, t.team, t.cost_center
    FROM tokens_daily_by_user_model AS u
    LEFT JOIN user_teams AS t
      ON t.org_id = u.org_id AND t.user_id = u.user_id AND u.date BETWEEN t.valid_from AND t.valid_to
    WHERE u.org_id = ${orgId} AND u.date = ${sums.day} AND u.billable_tokens IS NOT NULL`;
  const rows = await source.select(withSql(teams, usage));
  return [...rows.map(usageIn), ...unattributed(sums)];
}

function usageIn(row: QueryRow): Usage {
  return {
    subject: { userId: String(row['user_id']), modelId: String(row['model_id']) },
    modelTier: textIn(row, 'model_tier'),
    tokens: numberIn(row, 'billable_tokens') ?? 0,
    team: textIn(row, 'team'),
    costCenter: textIn(row, 'cost_center'),
  };
}

function unattributed({ total, attributed }: DaySums): Usage[] {
  if (total === null || Math.abs(total - attributed) < TOKENS_MIN) return [];
  return [{ subject: null, modelTier: null, tokens: total - attributed, ...UNALLOCATED }];
}

function numberIn(row: QueryRow, name: string): number | null {
  const value = row[name];
  return typeof value === 'number' ? value : null;
}

/** FOCUS has no empty texts: what is empty is null. */
function textIn(row: QueryRow, name: string): string | null {
  const value = row[name];
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
