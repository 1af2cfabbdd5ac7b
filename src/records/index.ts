export {
  countEventsBefore,
  type HookEventRow,
  removeEventsBefore,
  storeHookEvents,
} from './hook-events.ts';
export {
  ERASURE,
  forgetLearned,
  joinPlaces,
  listLearned,
  notePublished,
  type PendingErasure,
  pendingErasures,
  readArchives,
  readLearned,
  readPublished,
  readState,
  readStates,
  rememberArchive,
  STATES,
  writeState,
} from './remembered.ts';
export {
  ASIDE,
  endRun,
  type RunRecord,
  readRuns,
  recordSession,
  startRun,
} from './runs.ts';
