import type { DayRange } from '../params.ts';
import { Refusal } from '../problem.ts';
import { distort } from '../render/distort.ts';
import type { EndpointContext } from './context.ts';

/** Text of one answer at most. An organization too large for a range is told to ask for fewer days. */
export const ANSWER_CHARS_MAX = 64 * 1024 * 1024;

/** Collects the rows of one answer as JSON text, within {@link ANSWER_CHARS_MAX}. */
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
export function writeRows(context: EndpointContext): RowWriter {
  const { quirks } = context;
  const rows: string[] = [];
  let chars = 0;
  return {
    add(row, identity) {
      const json = JSON.stringify(distort(row, identity, quirks));
      chars += json.length + 1;
      if (chars > ANSWER_CHARS_MAX) {
        throw new Refusal(400, 'The requested range is too large for this organization: request fewer days');
      }
      rows.push(json);
    },
    finish(range, paging = undefined) {
      const meta = {
        org_id: quirks.orgId ?? context.orgId,
        start_date: range.startDate,
        end_date: range.endDate,
        ...paging,
      };
      const tail = quirks.unknownFields ? ',"emulator_extra":{"note":"not in the specification"}' : '';
      // `meta` holds no metric, so only unknown fields can reach it.
      const metaJson = JSON.stringify(distort(meta, 'meta', { ...quirks, nullMetrics: 0 }));
      return `{"data":[${rows.join(',')}],"meta":${metaJson}${tail}}`;
    },
  };
}
