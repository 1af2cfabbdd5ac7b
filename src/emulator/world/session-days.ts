import type { DailyStream } from '../../core/stream.ts';
import type { DayVariant } from '../dataset/variant.ts';
import type { Sessions } from './sessions.ts';

/** Adds the created sessions to the days, equally in every stream. */
export function withSessions(
  variantOf: (day: number, stream: DailyStream) => DayVariant,
  sessions: Pick<Sessions, 'createdOn'>,
): (day: number, stream: DailyStream) => DayVariant {
  return (day, stream) => {
    const created = sessions.createdOn(day);
    const variant = variantOf(day, stream);
    if (created.size === 0 || variant.empty) return variant;
    const total = [...created.values()].reduce((sum, count) => sum + count, 0);
    return { ...variant, key: `${variant.key} sessions-${total}`, createdSessions: created };
  };
}
