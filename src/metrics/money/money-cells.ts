import { UsageError } from '../../core/errors.ts';
import { amountCell, type CellParser } from '../csv/columns.ts';

/** The largest price or budget. It leaves room for its product with any number of credits. */
const AMOUNT_MAX = 1_000_000_000_000;

/** An ISO 4217 code of a currency, in capital letters. */
export const currencyCell: CellParser<string> = (text) => {
  const known = Intl.supportedValuesOf('currency');
  if (known.includes(text)) return text;
  const upper = text.toUpperCase();
  if (known.includes(upper)) {
    throw new UsageError('is not in capital letters', { hint: `write ${upper}` });
  }
  throw new UsageError('is not a currency of ISO 4217', { hint: 'write its code, for example EUR or USD' });
};

/** A sum of money: 0 or more, with a decimal point. */
export const moneyCell: CellParser<number> = (text) => {
  const amount = amountCell(text);
  if (amount <= AMOUNT_MAX) return amount;
  throw new UsageError(`is more than ${AMOUNT_MAX}`, { hint: 'check the number' });
};
