import { hashText } from '../dataset/hash.ts';

/** A cursor that sorts before every user id, so that the walk starts again. It is not a user id. */
export const BEFORE_ALL = 'user_0';

/** Derives a new cursor from the cursor of the request. It sorts after every user id, so all further pages are empty. */
export function endlessCursor(sent: string): string {
  return `user_~${hashText(1, sent)}-${hashText(2, sent)}`;
}
