import { explainChange } from '../../comparison/index.ts';
import { UsageError } from '../../core/errors.ts';
import type { Period } from '../../metrics/index.ts';
import { type NumberFormat, noNumber, type Result, type ShownNumber, shareOf } from '../numbers.ts';
import { type Cell, emptyFigure, type Figure, orNotKept, type Phrase } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { holeIn, NO_SPAN_BEFORE, periodBefore } from '../time-spans.ts';
import { asSentence, lengthOf, periodWords } from '../words.ts';

/** Why the spend has changed: the figure, and its largest causes in words. */
interface WhyChanged {
  readonly figure: Figure;
  /** `more active people (+234) and a higher price (+59); cheaper models (−96) held it back`; empty if nothing is compared. */
  readonly largest: Phrase;
}

const NAME = { id: 'causes', title: 'Why it changed' } as const;

type Change = Awaited<ReturnType<typeof explainChange>>;
type Cause = Change['causes'][number];
type CauseName = Cause['cause'];

/** How a cause is said: where it raised the spend, where it lowered it, and what its factor is. */
interface CauseWords {
  readonly title: string;
  readonly more: string;
  readonly less: string;
  /** After `16 → 18`; the text alone where the cause has no factor. */
  readonly factor: string;
  readonly format: NumberFormat;
}

const WORDS: Readonly<Record<CauseName, CauseWords>> = {
  'working days': {
    ...{ title: 'Working days', more: 'more working days', less: 'fewer working days' },
    ...{ factor: '', format: 'count' },
  },
  people: {
    ...{ title: 'Active people', more: 'more active people', less: 'fewer active people' },
    ...{ factor: ' a working day', format: 'decimal' },
  },
  use: {
    ...{ title: 'Use per person', more: 'more use per person', less: 'less use per person' },
    ...{ factor: ' tokens a day', format: 'compact' },
  },
  'choice of models': {
    ...{ title: 'Choice of models', more: 'dearer models', less: 'cheaper models' },
    ...{ factor: 'shares of models in the tokens', format: 'decimal' },
  },
  'credits per token': {
    ...{ title: 'Credits per token', more: 'more credits per token', less: 'fewer credits per token' },
    ...{ factor: '', format: 'decimal' },
  },
  price: {
    ...{ title: 'Price', more: 'a higher price', less: 'a lower price' },
    ...{ factor: ' a million credits', format: 'money' },
  },
  'rows without a model': {
    ...{ title: 'Without a model', more: 'more without a model', less: 'less without a model' },
    ...{ factor: 'the service names no model', format: 'decimal' },
  },
};

/** The causes of the change against the span before, which add up to it. In credits where a price is missing. */
export async function whyChanged(reader: PageReader): Promise<WhyChanged> {
  const { filters, warehouse } = reader;
  const { orgId, team } = filters;
  const now = { from: filters.from, until: filters.until };
  const before = periodBefore(filters);
  if (before === null) return nothing(asSentence(NO_SPAN_BEFORE));
  const results: Result[] = [];
  const read = async (title: string, query: Parameters<PageReader['select']>[0]['query'], span: Period) => {
    const result = await reader.select({
      ...{ title, query, streams: ['tokens', 'users'] },
      ...{ from: span.from, until: span.until, isKept: true },
    });
    results.push(result);
    return result.rows;
  };
  try {
    const change = await explainChange(warehouse, read, { orgId, team, now, before });
    const why = whyNot(results);
    return why === undefined ? explained(change, { now, before, results }) : nothing(why, results);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, hint } = error;
    return nothing(asSentence(hint === undefined ? message : `${message}; ${hint}`), results);
  }
}

function nothing(why: string, results: readonly Result[] = []): WhyChanged {
  return { figure: emptyFigure({ ...NAME, unit: 'Causes of the change' }, why, results), largest: [] };
}

/** Why the spans cannot be compared; undefined if they can. */
function whyNot(results: readonly Result[]): string | undefined {
  const [now, , , before] = results;
  if (now === undefined || before === undefined) return 'Nothing is stored.';
  const notKept = [now, before].map((result) => orNotKept(result, '')).find((why) => why !== '');
  if (notKept !== undefined) return notKept;
  const isExpired = [now, before].some(({ basis }) => basis.days.expected < lengthOf(basis));
  if (isExpired) return 'Rows about people have expired, so the causes are not known.';
  const hole = holeIn(now, before);
  return hole === undefined ? undefined : asSentence(hole);
}

interface Compared {
  readonly now: Period;
  readonly before: Period;
  readonly results: readonly Result[];
}

function explained(change: Change, { now, before, results }: Compared): WhyChanged {
  const isMoney = change.unit !== 'credits';
  const format: NumberFormat = isMoney ? 'round' : 'compact';
  const changeFormat: NumberFormat = isMoney ? 'moneyChange' : 'compactChange';
  const ids = results.map(({ id }) => id);
  const number = (
    cause: string,
    part: 'value' | 'factor' | 'before',
    value: number | null,
    as: NumberFormat,
  ) =>
    value === null
      ? noNumber('it is not known', as)
      : ({
          ...{ kind: 'number', value, format: as },
          formula: { op: 'cause', cause: cause.replaceAll(' ', '-'), part, of: ids },
        } satisfies ShownNumber);
  const first = number('cost', 'before', change.before, format);
  const last = number('cost', 'factor', change.now, format);
  const causes = change.causes.filter(({ cause, value }) => cause !== 'rows without a model' || value !== 0);
  const values = causes.map(({ cause, value }) => number(cause, 'value', value, changeFormat));
  const ends = [change.before];
  for (const { value } of causes) ends.push((ends.at(-1) ?? 0) + value);
  const scale = { low: Math.min(...ends, change.now), high: Math.max(...ends, change.now) };
  const mark = (at: number): Cell => ({ kind: 'step', from: at, to: at, ...scale });
  const strong = (part: string | ShownNumber): Cell => ({
    kind: 'phrase',
    parts: [{ kind: 'strong', parts: [part] }],
  });
  const whole = number('cost', 'value', change.now - change.before, changeFormat);
  return {
    figure: {
      kind: 'figure',
      ...NAME,
      subtitle: `${isMoney ? change.unit : 'Credits'}; causes that add up to the change exactly`,
      table: {
        columns: [
          { title: 'Cause' },
          { title: '' },
          { title: 'Change', align: 'end' },
          { title: 'in %', align: 'end', isSpare: true },
        ],
        rows: [
          [strong(periodWords(before, now.until)), mark(change.before), first, { kind: 'phrase', parts: [] }],
          ...causes.map((cause, index): Cell[] => [
            nameOf(cause, number),
            { kind: 'step', from: ends[index] ?? 0, to: ends[index + 1] ?? 0, ...scale },
            values[index] ?? noNumber('it is not known', changeFormat),
            changeShare(values[index], first),
          ]),
          [strong(periodWords(now)), mark(change.now), last, changeShare(whole, first)],
        ],
      },
      results,
      // Where there is no price at all, the page says so once.
      notes: results[6]?.rows.length === 0 ? [] : change.warnings.map((warning) => [asSentence(warning)]),
    },
    largest: largestOf(causes, values, change.now - change.before),
  };
}

/** A part of the change as a share of the spend before, with a sign. */
function changeShare(part: ShownNumber | undefined, before: ShownNumber): ShownNumber {
  if (part === undefined) return noNumber('it is not known', 'change');
  return { ...shareOf(part, before), format: 'change' };
}

function nameOf(
  { cause, factor, factor_before }: Cause,
  number: (cause: string, part: 'factor' | 'before', value: number | null, as: NumberFormat) => ShownNumber,
): Cell {
  const { title, factor: words, format } = WORDS[cause];
  const small: Phrase =
    factor === null && factor_before === null
      ? [words]
      : [
          number(cause, 'before', factor_before, format),
          ' → ',
          number(cause, 'factor', factor, format),
          words,
        ];
  return { kind: 'phrase', parts: [title, { kind: 'small', parts: small }] };
}

/** Of each direction, so many causes are named, and none that is less than a tenth of the largest. */
const NAMED_MAX = 2;
const NAMED_SHARE = 0.1;

function largestOf(causes: readonly Cause[], values: readonly ShownNumber[], change: number): Phrase {
  const size = ({ value }: Cause) => Math.abs(value);
  const largest = Math.max(0, ...causes.map(size));
  if (largest === 0 || change === 0) return [];
  // What no model is known of explains nothing.
  if (causes.some((cause) => cause.cause === 'rows without a model' && size(cause) === largest)) return [];
  const named = (isWith: boolean): Phrase => {
    const own = causes
      .filter(({ value }) => value !== 0 && (value > 0 === change > 0) === isWith)
      .filter((cause) => size(cause) >= NAMED_SHARE * largest)
      .toSorted((a, b) => size(b) - size(a))
      .slice(0, NAMED_MAX);
    return own.flatMap((cause, index): Phrase => {
      const { more, less } = WORDS[cause.cause];
      const value = values[causes.indexOf(cause)];
      const words = `${index === 0 ? '' : ' and '}${cause.value > 0 ? more : less}`;
      return value === undefined ? [words] : [`${words} (`, value, ')'];
    });
  };
  const [main, other] = [named(true), named(false)];
  if (main.length === 0) return [];
  return [
    ...main,
    ...(other.length === 0 ? [] : ['; ', ...other, change > 0 ? ' held it back' : ' worked against it']),
  ];
}
