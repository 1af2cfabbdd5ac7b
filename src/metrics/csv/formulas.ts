/** The first characters by which spreadsheets recognize a formula. */
const FORMULA = String.raw`[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]`;
const QUOTED_FORMULA = new RegExp(`^'+${FORMULA}`);

/** True for a text that looks like the result of {@link escapeFormula}: quotes, then what may begin a formula. */
export function isEscapedFormula(text: string): boolean {
  return QUOTED_FORMULA.test(text);
}

/** Takes away the quote that {@link isEscapedFormula} found, so that what was written is read again. */
export function unescapeFormula(text: string): string {
  return isEscapedFormula(text) ? text.slice(1) : text;
}
