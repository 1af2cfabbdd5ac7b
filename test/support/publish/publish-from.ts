// Separate from the checks of the lake, which load DuckDB. Scripts that publish in a separate process do not need it.
import { type PublishReport, type PublishRequest, publish } from '../../../jobs/publish.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import type { Rig } from '../rig/rig.ts';

/** Publishes a warehouse. */
export function publishFrom(
  warehouse: string,
  request: PublishRequest,
  clock: Clock = systemClock(),
): Promise<PublishReport> {
  const settings = { warehouse } as Rig['settings'];
  return publish(settings, request, { clock, signal: new AbortController().signal });
}
