import { BEFORE_ALL, endlessCursor } from '../endpoints/cursors.ts';
import type { PreparedResponse } from '../http/prepared-response.ts';
import { isRecord } from '../input/parse.ts';
import type { ActionOf } from './action.ts';
import type { FaultContext } from './context.ts';

type Mode = ActionOf<'cursor'>['mode'];

/** Breaks the cursor of a response. Reports a miss if the response has no paging. */
export function breakCursor(
  mode: Mode,
  current: () => PreparedResponse,
  { call, answer, missed }: FaultContext,
): PreparedResponse {
  const { stream, path, query } = call.target;
  if (stream === 'readiness' && (mode === 'repeat' || mode === 'cycle')) {
    const first = new URLSearchParams(query);
    first.delete('startAfter');
    return answer(`${path}?${first.toString()}`);
  }
  const response = current();
  const body: unknown =
    stream === 'users' && response.status === 200 ? JSON.parse(response.body.toString()) : null;
  if (!isRecord(body) || !isRecord(body['meta'])) {
    missed();
    return response;
  }
  const next_cursor = chooseBrokenCursor(mode, query.get('cursor'), body['meta']);
  // A field that is undefined is left out of the JSON.
  const meta = { ...body['meta'], has_more: true, next_cursor };
  return { ...response, body: Buffer.from(JSON.stringify({ ...body, meta })) };
}

function chooseBrokenCursor(mode: Mode, sent: string | null, meta: Record<string, unknown>): unknown {
  switch (mode) {
    case 'repeat':
      return sent ?? meta['next_cursor'];
    case 'cycle':
      return BEFORE_ALL;
    case 'missing':
      return undefined;
    case 'null':
      return null;
    case 'empty':
      return '';
    case 'endless':
      return endlessCursor(sent ?? '');
  }
}
