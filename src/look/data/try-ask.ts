import { UsageError } from '../../core/errors.ts';
import type { PageQuestion, PageReader } from './reader.ts';
import type { MetricResult } from './result.ts';

/** The answer to a question, or why the metric refuses it: costs in two currencies, for example, are never added. */
export type Attempt =
  | { readonly kind: 'answer'; readonly result: MetricResult }
  | { readonly kind: 'refusal'; readonly why: string };

/** Asks a question that a metric may refuse, so that a figure can say so instead of failing the page. */
export async function tryAsk(reader: PageReader, question: PageQuestion): Promise<Attempt> {
  try {
    return { kind: 'answer', result: await reader.ask(question) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, hint } = error;
    return { kind: 'refusal', why: hint === undefined ? message : `${message}; ${hint}` };
  }
}
