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

/** Collects the rows of one answer as JSON text, within the quirk `maxAnswerChars`. */
export interface RowWriter {
  /**
   * Adds a row of a day that `name` tells from the day's others.
   * @throws {Refusal} 400 when the answer becomes too large.
   */
  add(row: object, date: UtcDay, name: number): void;
  /** The whole answer; `paging` is what `meta` has besides the organization and the range. */
  finish(paging?: Paging): string;
}

/** Begins an answer about the days of a range (specification, section 2.4, envelope). */
export function writeRows(world: World, asked: { stream: DailyStream; range: RequestedRange }): RowWriter {
  const { stream, range } = asked;
  const quirks = world.quirks();
  const rows: string[] = [];
  let chars = 0;
  return {
    add(row, date, name) {
      const told = falsifyRow(row, quirks.lies, { stream, date });
      const json = JSON.stringify(distort(told, `${stream} ${date} ${name}`, quirks));
      chars += json.length + 1;
      if (chars > quirks.maxAnswerChars) {
        throw new Refusal(400, 'The requested range is too large for this organization: request fewer days');
      }
      rows.push(json);
    },
    finish(paging = undefined) {
      const meta = {
        org_id: quirks.orgId ?? world.orgId,
        start_date: chooseMetaDay(range.startDate, quirks.lies, asked),
        end_date: chooseMetaDay(range.endDate, quirks.lies, asked),
        ...paging,
      };
      const tail = unknownTail(quirks);
      // `meta` holds no metric, so only unknown fields can reach it.
      const metaJson = JSON.stringify(distort(meta, 'meta', { ...quirks, nullMetrics: 0 }));
      return `{"data":[${selectRecords(rows, quirks.lies, asked).join(',')}],"meta":${metaJson}${tail}}`;
    },
  };
}

/** The unknown field of the outermost object, if the quirk is on, as the end of its JSON text. */
export function unknownTail(quirks: Quirks): string {
  return quirks.unknownFields ? `,${JSON.stringify(UNKNOWN_FIELD).slice(1, -1)}` : '';
}
