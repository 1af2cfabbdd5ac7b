import type { PeriodChoice } from '../../metrics/metric-template.ts';

/** The parameters of every query about a metric. Datasette passes an empty text for one that is not given. */
export const PARAMETERS = ['organization', 'first_day', 'last_day'] as const;

const given = (name: (typeof PARAMETERS)[number]) => `NULLIF(:${name}, '')`;

/** The organization and the days that a reader has chosen; NULL for the default. */
export const CHOSEN: PeriodChoice = {
  orgId: given('organization'),
  from: given('first_day'),
  until: given('last_day'),
};
