import { EXIT } from '../../core/exit-code.ts';

function exitAtSignal(signal: NodeJS.Signals): void {
  // The exit listeners would report this exit as a defect.
  process.removeAllListeners('exit');
  process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
}

/**
 * Ends the process at the first SIGINT or SIGTERM while no command is running, until {@link ignoreEarlySignal}. Without
 * a listener, the first process of a container would not receive these signals at all.
 */
export function exitAtEarlySignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, exitAtSignal);
}

/** Stops listening for a signal, once the command listens for it. */
export function ignoreEarlySignal(signal: 'SIGINT' | 'SIGTERM'): void {
  process.off(signal, exitAtSignal);
}
