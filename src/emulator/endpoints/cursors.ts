import { hashText } from '../dataset/hash.ts';

/** A cursor that comes before every user id and is not one: the walk starts again. */
export const BEFORE_ALL = 'user_0';

/** Derives a new cursor from the sent one. It comes after every user id, so all further pages are empty. */
export function endlessCursor(sent: string): string {
  return `user_~${hashText(1, sent)}-${hashText(2, sent)}`;
}
