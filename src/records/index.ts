export {
  countEventsBefore,
  type HookEventRow,
  removeEventsBefore,
  storeHookEvents,
} from './hook-events.ts';
export {
  ARCHIVES,
  ERASURE,
  forgetLearned,
  joinPlaces,
  listLearned,
  notePublished,
  type PendingErasure,
  PUBLISHED,
  pendingErasures,
  readArchives,
  readLearned,
  readPublished,
  rememberArchive,
} from './remembered.ts';
export {
  endRun,
  type RunRecord,
  readRuns,
  readState,
  recordSession,
  type SessionRow,
  startRun,
  writeState,
} from './runs.ts';
