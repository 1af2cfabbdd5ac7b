import type { UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { Refusal } from '../http/refusal.ts';
import { distort, UNKNOWN_FIELD } from '../quirks/distort.ts';
import type { Quirks } from '../quirks/quirks.ts';
import type { World } from '../world/world.ts';
import { chooseMetaDay } from './lies/days.ts';
import type { Paging } from './lies/paging.ts';
import { falsifyRow, selectRecords } from './lies/rows.ts';
import type { RequestedRange } from './params.ts';

/** Collects the rows of one response as JSON text, up to the quirk `maxAnswerChars`. */
export interface RowWriter {
  /**
   * Adds a row. `name` distinguishes it from the other rows of its day.
   * @throws {Refusal} 400 when the response becomes too large.
   */
  add(row: object, date: UtcDay, name: number): void;
  /** Returns the whole response. `paging` is added to `meta`. */
  finish(paging?: Paging): string;
}

/** Starts a response about the days of a range (specification, section 2.4, envelope). */
export function writeRows(world: World, scope: { stream: DailyStream; range: RequestedRange }): RowWriter {
  const { stream, range } = scope;
  const quirks = world.quirks();
  const rows: string[] = [];
  let chars = 0;
  return {
    add(row, date, name) {
      const shown = falsifyRow(row, quirks.lies, { stream, date });
      const json = JSON.stringify(distort(shown, `${stream} ${date} ${name}`, quirks));
      chars += json.length + 1;
      if (chars > quirks.maxAnswerChars) {
        throw new Refusal(400, 'The requested range is too large for this organization: request fewer days');
      }
      rows.push(json);
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
