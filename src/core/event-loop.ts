type Waiting = () => void;

const waiting: Waiting[] = [];

/**
 * Waits until the event loop has looked for what came in meanwhile. Of several callers one goes on per round, so that
 * none of them keeps answers waiting for the work of all others.
 */
export function afterInput(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  // What is scheduled in this phase of the loop runs in its next round.
  if (waiting.length > 1) setImmediate(next);
  waiting.shift()?.();
}
