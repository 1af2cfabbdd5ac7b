const MONTH =
  '(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)';

/** Every way in which pages write days, months, spans, lengths of spans and instants. */
const DATES = new RegExp(
  [
    String.raw`\b\d{4}-\d{2}(?:-\d{2})?\b`,
    String.raw`\b\d{1,2}(?:(?: to |–)\d{1,2})? ${MONTH}\b(?: \d{4}\b)?`,
    String.raw`\b${MONTH} \d{4}\b(?:, \d{1,2}(?: to \d{1,2})?)?`,
    String.raw`\bthe \d{1,4} days before\b`,
    String.raw`\b\d{2}:\d{2}(?::\d{2})?(?: UTC)?`,
  ].join('|'),
  'g',
);

/** A text without its dates. */
export function withoutDates(text: string): string {
  return text.replaceAll(DATES, '');
}
