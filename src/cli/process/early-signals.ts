import { EXIT } from '../../core/exit-code.ts';

function obey(signal: NodeJS.Signals): void {
  // They would take this for an end that nobody meant.
  process.removeAllListeners('exit');
  process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
}

/**
 * Ends the process at the first SIGINT or SIGTERM, until {@link stopObeyingEarly}: nothing is under way yet. To the first
 * process of a container the operating system hands only signals that it listens for; others are lost.
 */
export function obeyEarly(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, obey);
}

/** Leaves a signal to those who have begun to listen for it. */
export function stopObeyingEarly(signal: 'SIGINT' | 'SIGTERM'): void {
  process.off(signal, obey);
}
