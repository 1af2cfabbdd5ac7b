import { spansOf, type UtcDay } from '../core/day.ts';
import { StorageError, UsageError } from '../core/errors.ts';
import type { CoveredDays } from '../metrics/index.ts';
import { publicText } from '../privacy/index.ts';

/** The most characters of a text that is not ours. */
const FOREIGN_CHARS_MAX = 200;
/** The most UTF-16 units that are looked at, so that a long text takes no time. */
const EXAMINED_MAX = 2_000;
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Control characters, and all that a person does not see: zero-width characters, tags, bidirectional controls, fillers. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A text that the service or the company wrote, as a value for the prompt of a model: at most 200 characters, and none that a
 * person would not see. Such a text never stands in a sentence.
 */
export function foreignText(text: string): string {
  const visible = [...text.slice(0, EXAMINED_MAX).replace(BREAKS, ' ').replace(INVISIBLE, '')];
  const isCut = visible.length > FOREIGN_CHARS_MAX || text.length > EXAMINED_MAX;
  return isCut ? `${visible.slice(0, FOREIGN_CHARS_MAX - 1).join('')}…` : visible.join('');
}

/** A question that gets no answer, with what to ask instead. Both are sentences of ours, without their full stop. */
export class Refusal extends UsageError {
  /** Names to choose from. They may be foreign texts, so they are values after the sentences. */
  readonly choices: readonly string[];

  constructor(why: string, instead: string, choices: readonly string[] = []) {
    super(why, { hint: instead });
    this.choices = choices;
  }
}

/** More choices do not help. */
const CHOICES_MAX = 30;

/**
 * What a model reads of a question that failed: "Refused: … Instead: …". Null if the failure is none of the question: the caller
 * reports it.
 */
export function refusalText(error: unknown): string | null {
  if (error instanceof Refusal) {
    const words = sentences(error.message, error.hint);
    if (error.choices.length === 0) return words;
    return `${words}\n${JSON.stringify({ choices: error.choices.slice(0, CHOICES_MAX).map(foreignText) })}`;
  }
  // The warehouse itself is not for the one who asks.
  if (error instanceof UsageError && !isAboutWarehouse(error))
    return sentences(publicText(error.message), publicText(error.hint ?? 'ask in another way'));
  if (error instanceof StorageError && error.reason === 'read-too-slow') return tooSlow();
  return null;
}

/** The words for a question that takes longer than it may. */
export function tooSlow(): string {
  return sentences(
    'the question takes longer than a question may',
    'ask for a shorter period, or for fewer dimensions',
  );
}

/** The words for a failure that the log explains. */
export const FAILED = sentences(
  'the warehouse cannot be read now',
  'try again in a minute; whoever runs this server finds the reason in its log',
);

function isAboutWarehouse({ reason }: UsageError): boolean {
  return reason?.startsWith('warehouse-') === true || reason === 'no-warehouse';
}

function sentences(why: string, instead: string | undefined): string {
  return `Refused: ${sentence(why)} Instead: ${sentence(instead ?? '')}`;
}

/** With a full stop, unless the words end with another one. */
export function sentence(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** More spans of days are counted, not named. */
const SPANS_MAX = 8;

/** Days for people: "2026-11-18, 2026-11-20 to 2026-11-22". */
export function dayWords(days: readonly UtcDay[]): string {
  const spans = spansOf(days);
  const named = spans
    .slice(0, SPANS_MAX)
    .map(({ from, until }) => (from === until ? from : `${from} to ${until}`));
  const more = spans.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more ${more === 1 ? 'span' : 'spans'}` : ''}`;
}

/**
 * The first line of an answer that can still change, with the days that are open; null if it is final.
 * @param later days after the period that it would have if they were stored
 */
export function preliminaryLine(
  { expected, unsettled, missing }: CoveredDays,
  later: readonly UtcDay[] = [],
): string | null {
  const parts = [
    ...(unsettled.length === 0 ? [] : [`not settled: ${dayWords(unsettled)}`]),
    ...(missing.length === 0 ? [] : [`not stored: ${dayWords(missing)}`]),
  ];
  const open = `${unsettled.length + missing.length} of ${expected} days are open (${parts.join('; ')})`;
  const sentences = [
    ...(parts.length === 0 ? [] : [open]),
    ...(later.length === 0 ? [] : [`the period ends early, because nothing is stored of ${dayWords(later)}`]),
  ];
  return sentences.length === 0
    ? null
    : `PRELIMINARY: ${sentences.join('; ')}. The numbers can still change.`;
}
