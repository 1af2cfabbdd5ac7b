import { shiftDay, type UtcDay } from '../../../src/core/day.ts';
import type { RunEvent, RunReport } from '../../../src/pipeline/events.ts';
import { runUnits } from '../../../src/pipeline/run/run.ts';
import { Gate } from '../../../src/privacy/gate.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import type { Held } from '../warehouse/each-database.ts';
import { type Answers, type CleanAnswers, transportOver } from './service.ts';

/** How a night is run. */
export interface NightOptions {
  readonly today: UtcDay;
  readonly rangeDays?: number;
  readonly watchDays?: number;
  readonly force?: boolean;
  readonly acceptLoss?: boolean;
}

/** One run of the program at 03:00 UTC, over answers that come from no network. */
export async function runNight(
  warehouse: Held,
  clean: CleanAnswers,
  answers: Pick<Answers, 'to'>,
  { today, rangeDays = 31, watchDays = 31, force = false, acceptLoss = false }: NightOptions,
): Promise<{ report: RunReport; events: RunEvent[] }> {
  const events: RunEvent[] = [];
  const { url } = clean.emulator;
  const lock = await warehouse.lock();
  const report = await runUnits({
    command: 'run',
    lastDay: shiftDay(today, -1),
    asked: { firstDay: null, streams: null, maxAgeSeconds: null },
    force,
    acceptLoss,
    newestFirst: false,
    source: {
      transport: transportOver(answers),
      hosts: { baseUrl: url, appUrl: url },
      gate: new Gate({ mode: 'keep' }),
    },
    warehouse,
    lock,
    clock: new FakeClock({ auto: true, now: `${today}T03:00:00Z` }),
    concurrency: 8,
    rangeDays,
    settleDays: 3,
    minGroup: 5,
    watchDays,
    versions: {},
    observe: (event) => events.push(event),
    signal: new AbortController().signal,
  });
  await lock.release();
  return { report, events };
}
