import { Compile } from 'typebox/compile';
import { isStorable } from '../../core/json.ts';
import { Label, Metric } from './fields.ts';

/** The shapes of the fields that are copied into columns, by the kind of the column. */
const SHAPES = { metric: Metric, label: Label } as const;

const CHECKS = { metric: Compile(SHAPES.metric), label: Compile(SHAPES.label) } as const;

/**
 * What a column of a kind holds for a field of a record: the same as when the rows of an answer are checked and normalized.
 * Undefined if the field does not fit, or if fields do not become columns of this kind unchanged.
 */
export function fieldValue(kind: string, field: unknown): string | number | null | undefined {
  if (kind !== 'metric' && kind !== 'label') return undefined;
  const check = CHECKS[kind];
  return check.Check(field) && isStorable(field) ? (field ?? null) : undefined;
}
