export { firedFieldsOf, HOOK_EVENT_NAMES, isHookEventName, wrongFieldsOf } from './event.ts';
export { NOTIFY_CHANNELS, NOTIFY_EVENTS } from './notification.ts';
export type { NotifySettings } from './notify.ts';
export { receive } from './receive.ts';
export { decodeLine, type SpoolRecord, spoolOf } from './spool.ts';
export { linesOf, passSpool, readSpoolLines, sealSpool } from './spool-files.ts';
