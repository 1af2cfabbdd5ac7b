import { setTimeout as delay } from 'node:timers/promises';

const DAY_MS = 86_400_000;
/** Longer than a test takes. */
const LEFT_MS_MIN = 30_000;

/** Waits until midnight UTC has passed, if it is near: for tests of what reads the real clock more than once. */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < LEFT_MS_MIN) await delay(leftMs + 100);
}
