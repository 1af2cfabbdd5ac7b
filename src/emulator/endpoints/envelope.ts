import type { UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { hashText, unitOf } from '../dataset/pseudo-random.ts';
import { isRecord } from '../parse.ts';
import type { Quirks } from '../quirks.ts';
import { Refusal } from '../response.ts';
import type { World } from '../world.ts';
import { chooseMetaDay, falsifyRow, type Paging, selectRecords } from './lies.ts';
import type { RequestedRange } from './params.ts';

/** Collects the rows of one response as JSON text, up to the quirk `maxAnswerChars`. */
export interface RowWriter {
  /**
   * Adds a row. `name` distinguishes it from the other rows of its day.
   * @throws {Refusal} 400 when the response becomes too large.
   */
  add(row: object, date: UtcDay, name: number): void;
  /** Adds a row that is given as JSON text: as it is, unless a quirk changes it. */
  addText(json: string, date: UtcDay, name: number): void;
  /** Returns the whole response. `paging` is added to `meta`. */
  finish(paging?: Paging): string;
}

/** Starts a response about the days of a range (specification, section 2.4, envelope). */
export function writeRows(world: World, scope: { stream: DailyStream; range: RequestedRange }): RowWriter {
  const { stream, range } = scope;
  const quirks = world.quirks();
  const rows: string[] = [];
  let chars = 0;

  function add(row: object, date: UtcDay, name: number): void {
    for (const shown of falsifyRow(row, quirks.lies, { stream, date }))
      put(JSON.stringify(distort(shown, `${stream} ${date} ${name}`, quirks)));
  }

  function put(json: string): void {
    chars += json.length + 1;
    if (chars > quirks.maxAnswerChars) {
      throw new Refusal(400, 'The requested range is too large for this organization: request fewer days');
    }
    rows.push(json);
  }

  return {
    add,
    addText(json, date, name) {
      const { zeroDays, impossible, twice } = quirks.lies;
      const stays = !distorts(quirks) && [zeroDays, impossible, twice].every((lie) => lie === undefined);
      if (stays) put(json);
      else add(JSON.parse(json), date, name);
    },
    finish(paging = undefined) {
      const meta = {
        org_id: quirks.orgId ?? world.orgId,
        start_date: chooseMetaDay(range.startDate, quirks.lies, scope),
        end_date: chooseMetaDay(range.endDate, quirks.lies, scope),
        ...paging,
      };
      // `meta` contains no metrics, so it can only get unknown fields.
      const metaJson = JSON.stringify(distort(meta, 'meta', { ...quirks, nullMetrics: 0 }));
      const kept = selectRecords(rows, quirks.lies, scope);
      return `{"data":[${kept.join(',')}],"meta":${metaJson}${writeUnknownTail(quirks)}}`;
    },
  };
}

/** The JSON text that adds the unknown field to the outermost object, if the quirk is on. */
export function writeUnknownTail({ unknownFields }: Quirks): string {
  return unknownFields ? `,${JSON.stringify(UNKNOWN_FIELD).slice(1, -1)}` : '';
}

type Distortions = Pick<Quirks, 'unknownFields' | 'nullMetrics'>;

/** The field that the quirk `unknownFields` adds to an object. */
const UNKNOWN_FIELD = { emulator_extra: { note: 'not in the specification' } } as const;
/** Objects that accept any key. An added field would be another entry, not an unknown field. */
const MAPS = new Set(['daily_active_users_by_client', 'apps', 'report']);

/**
 * Applies the quirks `unknownFields` and `nullMetrics` to a record. `identity` names the record, so that the same
 * metrics are missing on any page that shows it. Without these quirks it returns the record itself.
 */
export function distort(record: object, identity: string, quirks: Distortions): object {
  return distorts(quirks) ? distortFields(record, identity, quirks, false) : record;
}

function distorts({ unknownFields, nullMetrics }: Distortions): boolean {
  return unknownFields || nullMetrics > 0;
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
