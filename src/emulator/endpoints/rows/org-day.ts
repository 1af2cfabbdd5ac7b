import type { DailyStream } from '../../../core/stream.ts';
import { createOrgDay, type OrgDay } from '../../dataset/org-day.ts';
import type { DayView } from './view.ts';

const NOTHING = createOrgDay();

/** The sums of the day. A day without activity has zeros or null (no row), as the quirk says. */
export function orgDayOf(view: DayView, stream: DailyStream): OrgDay | null {
  const org = view.day < 0 ? null : view.dataset.orgDay(view.day, stream);
  if (org !== null || view.day < 0) return org;
  return view.quirks.emptyDays === 'zeros' ? NOTHING : null;
}
