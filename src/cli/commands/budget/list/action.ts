import { listBudgets } from '../../../../../jobs/budget-list.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { BUDGETS_COLUMNS, type BudgetRow } from '../../../../metrics/money/budgets.ts';
import { writeCsv } from '../../../../metrics/write-csv.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { csvLines } from '../../../screens/csv-lines.ts';
import { formatMoney } from '../../../text/money.ts';
import { renderTable, right, shrinking } from '../../../text/table.ts';

export const act: Action = async ({ settings, job, flags, out }) => {
  const list = await listBudgets(settings, { organization: flags.text('--organization') }, job);
  const csv = () => writeCsv(BUDGETS_COLUMNS, list.budgets);
  out.show(list, (frame) => (flags.isOn('--csv') ? csvLines(csv(), frame) : renderList(list.budgets, frame)));
  return EXIT.ok;
};

function renderList(budgets: readonly BudgetRow[], frame: ScreenFrame): string[] {
  if (budgets.length === 0) return ['no budgets are loaded; daywalk budget load stores those of a CSV file'];
  const rows = budgets.map(({ month, team, amount, currency }) => [
    month,
    frame.redact(team),
    formatMoney(amount, currency),
  ]);
  return renderTable(['month', shrinking('team'), right('budget')], rows, frame);
}
