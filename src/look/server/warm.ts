import type { Clock } from '../../core/clock.ts';
import type { KeptWarehouse } from '../../warehouse/kept-open.ts';
import { PAGE_KINDS } from '../pages/kinds.ts';
import type { PageSource } from './page-source.ts';

/** How often the warehouse is looked at. */
const LOOK_MS = 5_000;

/** What keeps pages ready. */
export interface WarmOptions {
  readonly warehouse: KeptWarehouse;
  readonly pages: PageSource;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

/**
 * Makes the pages of the navigation after the start, and again once the warehouse has changed and come to rest, so that
 * people do not wait for the first one. During a run, which commits all the time, it makes none. Returns when the signal
 * aborts; failures are left to the requests that meet them.
 */
export async function keepPagesReady({ warehouse, pages, clock, signal }: WarmOptions): Promise<void> {
  let ready: string | undefined;
  let seen: string | undefined;
  while (!signal.aborted) {
    const version = await warehouse.read(async (_, now) => now).catch(() => undefined);
    const isAtRest = ready === undefined || version === seen;
    if (version !== undefined && version !== ready && isAtRest) {
      await makePages(pages, signal);
      ready = version;
    }
    seen = version;
    await clock.sleep(LOOK_MS, signal).catch(() => undefined);
  }
}

async function makePages(pages: PageSource, signal: AbortSignal): Promise<void> {
  for (const { name, path } of PAGE_KINDS) {
    if (signal.aborted) return;
    if (name !== undefined) await pages.answer(new URL(path, 'http://daywalk.invalid'));
  }
}
