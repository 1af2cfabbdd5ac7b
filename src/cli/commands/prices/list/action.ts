import { listPrices } from '../../../../../jobs/prices-list.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { PRICES_COLUMNS, type PriceRow } from '../../../../metrics/money/prices.ts';
import { writeCsv } from '../../../../metrics/write-csv.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { csvLines } from '../../../screens/csv-lines.ts';
import { formatPrice } from '../../../text/money.ts';
import { renderTable, right } from '../../../text/table.ts';

export const act: Action = async ({ settings, job, flags, out }) => {
  const list = await listPrices(settings, { organization: flags.text('--organization') }, job);
  const csv = () => writeCsv(PRICES_COLUMNS, list.prices);
  out.show(list, (frame) => (flags.isOn('--csv') ? csvLines(csv(), frame) : renderList(list.prices, frame)));
  return EXIT.ok;
};

function renderList(prices: readonly PriceRow[], frame: ScreenFrame): string[] {
  if (prices.length === 0) return ['no prices are loaded; daywalk prices load stores those of a CSV file'];
  const rows = prices.map(({ valid_from, valid_to, price_per_million, currency }) => [
    valid_from,
    valid_to,
    formatPrice(price_per_million, currency),
  ]);
  return renderTable(['from', 'to', right('price per million')], rows, frame);
}
