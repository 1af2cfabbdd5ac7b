import type { UtcDay } from '../../../src/core/day.ts';
import { commitOf } from '../warehouse/commit-of.ts';

/** A user of a day: the ID, the email, and the credits. */
export type UserOfDay = readonly [id: string, email: string | null, credits: number];

const LANGUAGES = ['Go', 'Rust'];

/** The commit of a day of `users` with these rows. */
export function usersOn(day: UtcDay, users: readonly UserOfDay[], orgId = 'org_1') {
  const rows = users.map(([id, email, credits]) => [
    ...[id, email, credits + 1, credits, 'm-1', credits % 2 === 0 ? 'thinking' : 'standard'],
    ...[1, null, credits, 0, 2, 3, 4, null, 1, 2, 3, 4, 0.5, 'manual', null],
  ]);
  const languages = users.flatMap(([id, , credits]) =>
    LANGUAGES.slice(0, credits % 3).map((language) => [id, language, null]),
  );
  return commitOf({
    ...{ stream: 'users', day, orgId },
    rows: { user_daily: rows, user_daily_languages: languages },
  });
}
