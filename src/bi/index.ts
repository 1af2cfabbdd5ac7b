/** The export of charges reads and writes files of several kinds, so it is loaded when it is asked for. */

export type { Total } from './focus/charge.ts';
export type { FocusReport, FocusRequest } from './focus/export.ts';
export { formatOf } from './focus/files.ts';
export { type BiReport, biTargets, writeBi } from './targets.ts';

type Charges = typeof import('./focus/charges.ts');
type Focus = typeof import('./focus/export.ts');

export const exportFocus: Focus['exportFocus'] = async (...given) =>
  (await import('./focus/export.ts')).exportFocus(...given);

export const readCharges: Charges['readCharges'] = async (...given) =>
  (await import('./focus/charges.ts')).readCharges(...given);
