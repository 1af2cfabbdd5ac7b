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
  readState,
  readStates,
  rememberArchive,
  writeState,
} from './remembered.ts';
export {
  endRun,
  type RunRecord,
  readRuns,
  recordSession,
  startRun,
} from './runs.ts';
