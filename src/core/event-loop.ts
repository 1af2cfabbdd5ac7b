type Waiting = () => void;

const waiting: Waiting[] = [];

/**
 * Waits until the event loop has polled for input. Resumes one caller per round of the loop, so that
 * many callers together do not delay incoming responses.
 */
export function afterInput(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  // A task scheduled in this phase of the loop runs in the next round.
  if (waiting.length > 1) setImmediate(next);
  waiting.shift()?.();
}
