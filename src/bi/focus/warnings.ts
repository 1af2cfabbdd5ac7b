import type { CoveredDays } from '../../metrics/question.ts';
import type { MonthCharges } from './charges.ts';
import { shortened } from './prices.ts';
import type { FocusRequest } from './request.ts';
import type { Totals } from './totals.ts';

/** What a file rests on. */
interface Basis {
  readonly charges: Pick<MonthCharges, 'withoutTotal' | 'unknownRows'>;
  readonly days: CoveredDays;
  readonly totals: Totals;
}

/** What limits a file, one sentence each. */
export function warningsOf(
  { corrects, isOver, month }: Pick<FocusRequest, 'corrects' | 'isOver' | 'month'>,
  { charges, days, totals }: Basis,
): string[] {
  const { missing, unsettled, expected } = days;
  const { withoutTotal, unknownRows } = charges;
  const warnings: string[] = [];
  if (missing.length > 0) {
    warnings.push(
      `${missing.length} of ${expected} days are not stored and not in the file: ${shortened(missing)}`,
    );
  }
  if (unsettled.length > 0) {
    warnings.push(
      `${unsettled.length} of ${expected} days are not settled and may change: ${shortened(unsettled)}`,
    );
  }
  if (withoutTotal.length > 0) {
    warnings.push(`days whose total is not stored have no unattributed row: ${shortened(withoutTotal)}`);
  }
  if (unknownRows > 0) {
    warnings.push(`rows of users and models without billable tokens are not in the file: ${unknownRows}`);
  }
  if (totals.all.rows > 0 && !totals.hasTeams) {
    warnings.push(
      'no charge has a team, so every SubAccountId is empty; load the people with daywalk people load',
    );
  }
  if (corrects.length > 0 && !isOver) {
    warnings.push(`${month.name} is not over: FOCUS has corrections for months that were invoiced`);
  }
  return warnings;
}
