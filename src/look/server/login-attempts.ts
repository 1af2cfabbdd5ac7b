import type { Clock } from '../../core/clock.ts';

/** Failed attempts that count are at most this old. */
const WINDOW_MS = 60_000;
/** Failed attempts from one address, and from all together, within the window. */
export const ATTEMPTS_MAX = { perAddress: 5, overall: 30 } as const;

/** Limits how often people may try to log in. */
export interface LoginAttempts {
  /** The seconds after which another attempt from this address is allowed; 0 for now. */
  waitSeconds(address: string): number;
  /** Records a failed attempt. */
  fail(address: string): void;
}

/** Creates the limit of a server. Remembers at most {@link ATTEMPTS_MAX}.overall attempts. */
export function createLoginAttempts(clock: Pick<Clock, 'monotonicMs'>): LoginAttempts {
  let failures: { readonly address: string; readonly atMs: number }[] = [];
  const recent = () => {
    const since = clock.monotonicMs() - WINDOW_MS;
    failures = failures.filter(({ atMs }) => atMs > since);
    return failures;
  };
  return {
    waitSeconds: (address) => {
      const all = recent();
      const own = all.filter((failure) => failure.address === address);
      const waits = [waitOf(own, ATTEMPTS_MAX.perAddress), waitOf(all, ATTEMPTS_MAX.overall)];
      const until = Math.max(...waits) - clock.monotonicMs();
      return Math.max(0, Math.ceil(until / 1000));
    },
    fail: (address) => {
      failures = [...recent(), { address, atMs: clock.monotonicMs() }];
    },
  };
}

/** The instant from which there are fewer failures than the limit. */
function waitOf(failures: readonly { readonly atMs: number }[], most: number): number {
  const oldest = failures.at(-most);
  return oldest === undefined ? Number.NEGATIVE_INFINITY : oldest.atMs + WINDOW_MS;
}
