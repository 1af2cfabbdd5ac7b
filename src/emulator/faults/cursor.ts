import { hashText } from '../dataset/hash.ts';
import type { PreparedResponse } from '../http/prepared-response.ts';
import { isRecord } from '../input/parse.ts';
import type { ActionOf } from './action.ts';
import type { FaultContext } from './context.ts';

/** Comes before every user id, so the walk begins again. */
const BEFORE_ALL = 'user_0';
/** Comes after every user id: all pages from here on are empty. */
const AFTER_ALL = 'user_~';

/** The answer with a broken cursor. Where there is no paging to break, the rule is told that it missed. */
export function breakCursor(
  mode: ActionOf<'cursor'>['mode'],
  current: () => PreparedResponse,
  context: FaultContext,
): PreparedResponse {
  const { target } = context.call;
  if (target.stream === 'readiness' && (mode === 'repeat' || mode === 'cycle')) return firstPage(context);
  const response = current();
  const answer: unknown =
    target.stream === 'users' && response.status === 200 ? JSON.parse(response.body.toString()) : null;
  if (!isRecord(answer) || !isRecord(answer['meta'])) {
    context.missed();
    return response;
  }
  const meta = {
    ...answer['meta'],
    has_more: true,
    ...brokenMeta(mode, target.query.get('cursor'), answer['meta']),
  };
  // A field that is undefined is left out of the JSON.
  return { ...response, body: Buffer.from(JSON.stringify({ ...answer, meta })) };
}

function brokenMeta(
  mode: ActionOf<'cursor'>['mode'],
  cursor: string | null,
  meta: Record<string, unknown>,
): { next_cursor: unknown } {
  switch (mode) {
    case 'repeat':
      return { next_cursor: cursor ?? meta['next_cursor'] };
    case 'cycle':
      return { next_cursor: BEFORE_ALL };
    case 'missing':
      return { next_cursor: undefined };
    case 'null':
      return { next_cursor: null };
    case 'empty':
      return { next_cursor: '' };
    case 'endless': {
      const from = cursor ?? '';
      return { next_cursor: `${AFTER_ALL}${hashText(1, from)}-${hashText(2, from)}` };
    }
  }
}

function firstPage(context: FaultContext): PreparedResponse {
  const query = new URLSearchParams(context.call.target.query);
  query.delete('startAfter');
  return context.answer(context.targetOf(`${context.call.target.path}?${query.toString()}`));
}
