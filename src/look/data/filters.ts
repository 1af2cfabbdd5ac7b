import type { UtcDay } from '../../core/day.ts';

/** What a page is about: an organization, a period, and perhaps a team. */
export interface Filters {
  readonly orgId: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** Only this team; null means people without a team, undefined everybody. */
  readonly team?: string | null | undefined;
}
