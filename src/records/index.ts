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
  lastDecided,
  type RunRecord,
  readRuns,
  recordSession,
  startRun,
} from './runs.ts';
