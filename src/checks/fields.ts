import type { TSchema } from 'typebox';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { isStorable } from '../core/json.ts';

/**
 * A published number. It may be null or missing, which is stored as NULL and never as 0.
 * Beyond ±(2^53 − 1) JSON.parse may already have rounded it, so such a number is refused instead of stored.
 */
export const Metric = Type.Optional(
  Type.Union([
    Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    Type.Null(),
  ]),
);

/** A text that describes a record without identifying it; may be null or missing. */
export const Label = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/** A yes or no that may be null or missing. */
export const Flag = Type.Optional(Type.Union([Type.Boolean(), Type.Null()]));

/** A text that identifies a record: required and not empty. */
export const Identity = Type.String({ minLength: 1 });

/** A list that may be null or missing. A bad element costs only itself, see `salvage`. */
export function listOf<Element extends TSchema>(element: Element) {
  return Type.Optional(Type.Union([Type.Array(element), Type.Null()]));
}

/** Any name. The default pattern of a record does not match names with a line break, so their values would go unchecked. */
const AnyName = Type.String({ pattern: '^[\\s\\S]*$' });

/** An object keyed by open-ended names. A bad entry costs only itself, see `salvage`. */
export function recordOf<Element extends TSchema>(element: Element) {
  return Type.Record(AnyName, element);
}

/** As {@link recordOf}, null or missing. */
export function mapOf<Element extends TSchema>(element: Element) {
  return Type.Optional(Type.Union([recordOf(element), Type.Null()]));
}

/** The years 1 to 9999 in Unix milliseconds, which every database can hold and sort as text. */
const YEARS = { minimum: -62_135_596_800_000, maximum: 253_402_300_799_999 } as const;

/** An instant in whole Unix milliseconds, in the years 1 to 9999. */
export const Instant = Type.Integer(YEARS);

/** An instant in Unix milliseconds that may have a fraction, in the years 1 to 9999. */
export const FractionalInstant = Type.Number(YEARS);

/** The shapes of the fields that are copied into columns, by the kind of the column. */
const SHAPES = { metric: Metric, label: Label } as const;

const CHECKS = { metric: Compile(SHAPES.metric), label: Compile(SHAPES.label) } as const;

/**
 * What a column of a kind holds for a field of a record: the same as when the rows of an answer are checked and normalized.
 * Undefined if the field does not fit, or if fields do not become columns of this kind unchanged.
 */
export function fieldValue(kind: string, field: unknown): string | number | null | undefined {
  if (kind !== 'metric' && kind !== 'label') return undefined;
  return CHECKS[kind].Check(field) && isStorable(field) ? (field ?? null) : undefined;
}
