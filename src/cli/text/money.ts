/** The most digits that people see of a price. */
const DIGITS_MAX = 12;

/** Formats an amount with the decimals of its currency: `1,234.50 EUR`, `1,235 JPY`. */
export function formatMoney(amount: number, currency: string): string {
  const style = new Intl.NumberFormat('en-US', { style: 'currency', currency }).resolvedOptions();
  const digits = style.maximumFractionDigits ?? 2;
  // A tiny negative difference must not print as -0.00.
  const options = {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: 'negative',
  } as const;
  return `${new Intl.NumberFormat('en-US', options).format(amount)} ${currency}`;
}

/** Formats a price with all its decimals: `2.50 EUR`, `0.0003 EUR`. */
export function formatPrice(price: number, currency: string): string {
  const style = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: DIGITS_MAX,
  });
  return `${style.format(price)} ${currency}`;
}
