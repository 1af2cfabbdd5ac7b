import { hashText, unitOf } from '../dataset/hash.ts';
import { isRecord } from '../input/parse.ts';
import type { Quirks } from './quirks.ts';

type Distortions = Pick<Quirks, 'unknownFields' | 'nullMetrics'>;

/** The field that the quirk `unknownFields` adds to an object. */
export const UNKNOWN_FIELD = { emulator_extra: { note: 'not in the specification' } } as const;
/** Objects that accept any key. An added field would be another entry, not an unknown field. */
const MAPS = new Set(['daily_active_users_by_client', 'apps', 'report']);

/**
 * Applies the quirks `unknownFields` and `nullMetrics` to a record. `identity` names the record, so that the same
 * metrics are missing on any page that shows it. Without these quirks it returns the record itself.
 */
export function distort(record: object, identity: string, quirks: Distortions): object {
  if (!quirks.unknownFields && quirks.nullMetrics === 0) return record;
  return distortFields(record, identity, quirks, false);
}

function distortFields(record: object, path: string, quirks: Distortions, isMap: boolean): object {
  const fields: [string, unknown][] = [];
  for (const [key, value] of Object.entries(record)) {
    const place = `${path}/${key}`;
    const fate = typeof value === 'number' ? fateOf(place, quirks.nullMetrics) : 'kept';
    if (fate === 'null') fields.push([key, null]);
    if (fate === 'kept') fields.push([key, distortValue(value, place, quirks, MAPS.has(key))]);
  }
  const known = Object.fromEntries(fields);
  return quirks.unknownFields && !isMap ? { ...known, ...UNKNOWN_FIELD } : known;
}

function distortValue(value: unknown, path: string, quirks: Distortions, isMap: boolean): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => distortValue(item, `${path}/${index}`, quirks, false));
  }
  return isRecord(value) ? distortFields(value, path, quirks, isMap) : value;
}

/** Half of the missing metrics are null; the other half are absent. */
function fateOf(path: string, share: number): 'kept' | 'null' | 'absent' {
  if (share === 0) return 'kept';
  const place = unitOf(hashText(0x6e75, path));
  if (place >= share) return 'kept';
  return place < share / 2 ? 'null' : 'absent';
}
