export type { DrainReport } from './drain-spool.ts';
export { firedFieldsOf, HOOK_EVENT_NAMES, isHookEventName, wrongFieldsOf } from './event.ts';
export { NOTIFY_CHANNELS, NOTIFY_EVENTS } from './notification.ts';
export type { NotifySettings } from './notify.ts';
export { receive } from './receive.ts';
export { spoolOf } from './spool.ts';
export { passSpool, readSpoolLines } from './spool-files.ts';

/** Loads what no receiver needs. */
export const drainSpool: typeof import('./drain-spool.ts').drainSpool = async (...given) =>
  (await import('./drain-spool.ts')).drainSpool(...given);
