import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { StoppedError } from '../../../src/core/errors.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import { parseSchedule } from '../../../src/serve/schedule.ts';
import { type ServeOptions, serve } from '../../../src/serve/serve.ts';
import type { ServeEvent } from '../../../src/serve/service-state.ts';
import { expectNoCanary } from '../rig/canary-key.ts';
import type { Rig } from '../rig/rig.ts';

type Event = RunEvent | ServeEvent;

/** A service in this process. */
export interface ServiceHere {
  readonly url: string;
  readonly events: readonly Event[];
  /** Stops it as SIGTERM does, and waits for its end. */
  stop(): Promise<void>;
  /** Its end, which only a failure brings without {@link stop}. */
  readonly ended: Promise<void>;
}

/** How to serve; the rest has defaults. */
export interface ServiceRequest extends Partial<Omit<ServeOptions, 'schedule'>> {
  readonly clock: Clock;
  readonly schedule?: string;
  /** Receives each event; may call `stop`. */
  readonly onEvent?: (event: Event, stop: () => void) => void;
}

/** Serves a rig on a free port until the test ends. */
export async function serveHere(rig: Pick<Rig, 'settings'>, request: ServiceRequest): Promise<ServiceHere> {
  const { clock, schedule = '0 3 * * *', onEvent, settings = rig.settings, ...others } = request;
  const controller = new AbortController();
  const events: Event[] = [];
  const stop = () => controller.abort(new StoppedError('SIGTERM'));
  const observe = (event: Event) => {
    events.push(event);
    onEvent?.(event, stop);
  };
  const options: ServeOptions = {
    schedule: parseSchedule(schedule),
    jitterMs: 0,
    listen: { host: '127.0.0.1', port: 0 },
    settings,
    readSettings: () => settings,
    listeners: [],
    seed: 0,
    ...others,
  };
  let ended: Promise<void> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    ended = serve(options, { clock, observe, signal: controller.signal }, resolve);
    ended.catch(reject);
  });
  const stopped = async () => {
    stop();
    await ended;
    expectNoCanary('the events of a service', JSON.stringify(events));
  };
  onTestFinished(stopped);
  return { url, events, stop: stopped, ended };
}
