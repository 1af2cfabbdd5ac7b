import type { CopyEvent } from '../../copy/events.ts';
import type { RunEvent } from '../../pipeline/events.ts';
import type { ServeEvent } from '../../serve/service-state.ts';

/** An event of any job. */
export type ReportedEvent = RunEvent | CopyEvent | ServeEvent;
