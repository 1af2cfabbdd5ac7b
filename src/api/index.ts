export { otherRange, rejectOtherDays } from './answer-rules.ts';
export {
  type CreatedSession,
  createSession,
  type KnownSession,
  knownSession,
  Session,
} from './create-session.ts';
export { READINESS_LIMIT, USERS_LIMIT } from './limits.ts';
export {
  type AnalyticsPage,
  analyticsPage,
  type ReadinessPage,
  readinessPage,
  reportIdsOf,
  walkReadiness,
  walkUsers,
} from './pages.ts';
export { analyticsRequest, type Hosts, ReportLimit, readinessRequest } from './requests.ts';
export { KnownIdentifiers, parseKnownIdentifiers, parseSessionRequest } from './session-request.ts';
