import type { DayRange } from '../params.ts';
import { Refusal } from '../problem.ts';
import type { Quirks } from '../quirks.ts';
import { distort, UNKNOWN_FIELD } from '../render/distort.ts';
import type { World } from '../world.ts';

/** Collects the rows of one answer as JSON text, within the quirk `maxAnswerChars`. */
export interface RowWriter {
  /**
   * Adds a row that `identity` names.
   * @throws {Refusal} 400 when the answer becomes too large.
   */
  add(row: object, identity: string): void;
  /** The whole answer; `paging` is what `meta` has besides the organization and the range. */
  finish(
    range: DayRange,
    paging?: { readonly has_more: boolean; readonly next_cursor: string | null },
  ): string;
}

/** Begins an answer (specification, section 2.4, envelope). */
export function writeRows(world: World): RowWriter {
  const quirks = world.quirks();
  const rows: string[] = [];
  let chars = 0;
  return {
    add(row, identity) {
      const json = JSON.stringify(distort(row, identity, quirks));
      chars += json.length + 1;
      if (chars > quirks.maxAnswerChars) {
        throw new Refusal(400, 'The requested range is too large for this organization: request fewer days');
      }
      rows.push(json);
    },
    finish(range, paging = undefined) {
      const meta = {
        org_id: quirks.orgId ?? world.orgId,
        start_date: range.startDate,
        end_date: range.endDate,
        ...paging,
      };
      const tail = unknownTail(quirks);
      // `meta` holds no metric, so only unknown fields can reach it.
      const metaJson = JSON.stringify(distort(meta, 'meta', { ...quirks, nullMetrics: 0 }));
      return `{"data":[${rows.join(',')}],"meta":${metaJson}${tail}}`;
    },
  };
}

/** The unknown field of the outermost object, if the quirk is on, as the end of its JSON text. */
export function unknownTail(quirks: Quirks): string {
  return quirks.unknownFields ? `,${JSON.stringify(UNKNOWN_FIELD).slice(1, -1)}` : '';
}
