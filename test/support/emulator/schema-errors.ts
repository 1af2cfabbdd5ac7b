import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json } from './probe.ts';

/** Closes every object schema, so that unknown fields fail. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner && inner['type'] === 'object'
    ? { ...inner, additionalProperties: false }
    : inner;
}

/** Validates a value against a schema of an OpenAPI document; unknown fields are errors too. */
export function errorsAgainst(document: Json, name: string, body: unknown): unknown {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, formats: { date: true } });
  ajv.addSchema({ $id: 'document', components: closed(document.components) }, 'document');
  ajv.addKeyword('components');
  const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
  return validate(body) ? [] : validate.errors;
}
