import { parseDay } from '../../../src/core/day.ts';
import type { Quirks } from '../../../src/emulator/quirks.ts';

/** Allowed oddities of a server, by description. */
type Oddities = Readonly<Record<string, Partial<Quirks>>>;

const inactiveDays = [parseDay('2026-01-20'), parseDay('2026-01-25')];

/** Quirks within the specification that change the content. */
export const CONTENT_QUIRKS: Oddities = {
  'as it is by default': {},
  'that calls the model "model"': { modelKey: 'model' },
  'that calls the model "model_name"': { modelKey: 'model_name' },
  'that calls the model "group_key"': { modelKey: 'group_key', modelTier: false },
  'that calls the user "user"': { userKey: 'user' },
  'that calls the user "id"': { userKey: 'id' },
  'that calls the user "group_key"': { userKey: 'group_key', byUser: 'flat' },
  'whose reports were created within a millisecond': { fractionalCreatedAt: true },
  'that answers cache metrics by model': { cacheFields: true },
  'whose users have no models': { byUser: 'flat' },
  'without a breakdown by user': { byUser: 'absent' },
  'that answers days without activity with zeros': { emptyDays: 'zeros', inactiveDays },
  'that answers days without activity with nothing': { emptyDays: 'absent', inactiveDays },
  'with metrics that are null or absent': { nullMetrics: 0.2 },
  'with fields that nobody knows': { unknownFields: true },
  'with a new client type': { newClientType: true },
  'with new criteria': { newCriteria: true, nullNumerators: 0.5 },
};

/** Quirks within the specification that keep the content. */
export const WAY_QUIRKS: Oddities = {
  'that allows one day per request only': { maxRangeDays: 1 },
  'that allows a week per request': { maxRangeDays: 7 },
  'that counts rows against the limit of users': { limitCounts: 'rows', usersLimitCap: 7 },
  'that caps the users of a page at 3': { usersLimitCap: 3 },
  'that ignores the limit and pages by one user': { pageSize: 1 },
  'that answers all users on one page': { pageSize: 1000 },
  'whose pages have any size, also none': { pageSize: [1, 0, 7, 2, 0, 0, 13] },
  'with empty pages before the last one': { emptyPageWithMore: true },
  'whose pages overlap': { overlappingPages: 'identical', usersLimitCap: 5 },
  'that redirects the readiness path': { readinessRedirect: '308', readinessLimitCap: 4 },
  'that answers reports oldest first': { readinessOrder: 'oldest', readinessLimitCap: 7 },
  'that answers reports in no order': { readinessOrder: 'shuffled', readinessLimitCap: 1 },
  'that refuses a limit of reports above 20': { readinessLimitMax: 20 },
  'that compresses': { gzip: true },
  'that ends every connection after a reply': { keepAlive: false },
};
