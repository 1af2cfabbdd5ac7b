export type { Keys, Role } from './auth.ts';
export { startEmulator } from './emulator.ts';
export { parseRules, type Rule } from './faults/rules.ts';
export type { EmulatorOptions } from './options.ts';
export { parseQuirks, type Quirks } from './quirks.ts';
