import type { CopyEvent } from '../../copy/events.ts';
import type { RunEvent } from '../../pipeline/events.ts';

/** What any job says while it works. */
export type ReportedEvent = RunEvent | CopyEvent;
