import type { Clock } from '../../core/clock.ts';
import { toSafeJson } from '../text/escape.ts';
import type { Log } from './log.ts';

/** Creates a log for machines, with one JSON object per line: `{"time","level","event",…}`. */
export function createJsonLog(options: { write(text: string): void; clock: Clock }): Log {
  return {
    write: ({ level, event, message, hint, fields, routine }) => {
      const words = routine === true ? {} : { message, hint };
      const line = { time: options.clock.now().toISOString(), level, event, ...words, ...fields };
      options.write(`${toSafeJson(line)}\n`);
    },
  };
}
