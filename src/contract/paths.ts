import type { DailyStream } from '../core/stream.ts';

/** Path prefix of the analytics endpoints, below the main API host (specification, section 4.2). */
export const ANALYTICS_BASE_PATH = '/api/v1/analytics';

/** Path of each analytics endpoint, below the main API host (section 4.2). */
export const ANALYTICS_PATHS = {
  tokens: `${ANALYTICS_BASE_PATH}/tokens`,
  tools: `${ANALYTICS_BASE_PATH}/tools`,
  activity: `${ANALYTICS_BASE_PATH}/activity`,
  productivity: `${ANALYTICS_BASE_PATH}/productivity`,
  users: `${ANALYTICS_BASE_PATH}/users`,
} as const satisfies Record<DailyStream, string>;

/** The dimension by which an endpoint can be grouped (section 4.2, group_by rules). */
export const GROUP_BY = { tokens: 'model', tools: 'tool_name', activity: 'client' } as const;

/** Path of the readiness list, below the application host (section 4.3). */
export const READINESS_PATH = '/api/organization/maturity-level-reports';

/** Path of the creation of sessions, below the main API host (section 4.1). */
export const SESSIONS_PATH = '/api/v0/sessions';
