import { type JsonSchema, type JsonSchemas, record } from '../input/json-schema.ts';
import { EXAMPLES } from './examples.ts';

/** A published figure. The specification calls it a number and leaves open whether it is always present. */
export const figure: JsonSchema = { type: ['number', 'null'] };
/** A published count, which may be null or absent like a {@link figure}. */
export const count: JsonSchema = { type: ['number', 'null'], minimum: 0 };
/** A UTC day. */
export const day: JsonSchema = {
  type: 'string',
  format: 'date',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  examples: [EXAMPLES.day],
};
export const userId: JsonSchema = { type: 'string', description: 'Opaque.', examples: [EXAMPLES.userId] };
export const email: JsonSchema = { type: ['string', 'null'] };

/** A row: the fields of `identity` are always present; each of the `metrics` may be null or absent (section 2.4). */
export function row(identity: JsonSchemas, metrics: JsonSchemas): JsonSchema {
  return record({ ...identity, ...metrics }, Object.keys(metrics));
}

/** Metrics that are counts. The names are separated by spaces. */
export function counts(names: string): JsonSchemas {
  return Object.fromEntries(names.split(' ').map((name) => [name, count]));
}
