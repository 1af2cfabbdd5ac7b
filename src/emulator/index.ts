export { type Keys, ROLES, type Role } from './auth.ts';
export { type EmulatedRepository, type Emulator, startEmulator } from './emulator.ts';
export type { Action } from './faults/action.ts';
export { type Match, parseRules, type Rule, type When } from './faults/rules.ts';
export type { JournalEntry, JournalSnapshot, RuleCounts } from './journal.ts';
export type { EmulatorOptions } from './options.ts';
export { DEFAULT_QUIRKS, parseQuirks, type Quirks } from './quirks.ts';
export type { RevisionKind, RevisionOutcome, RevisionRequest } from './revise.ts';
export type { EmulatedSession } from './sessions/sessions.ts';
