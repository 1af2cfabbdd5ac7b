import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listenForStop, type StopSignal } from '../../../src/cli/process/stop-signals.ts';
import type { ExitCode } from '../../../src/core/exit-code.ts';

/** A fake process that records signals and its exit. */
function fakeProcess() {
  const signals = new EventEmitter();
  const exits: ExitCode[] = [];
  const control = {
    on: (signal: StopSignal, listener: () => void) => void signals.on(signal, listener),
    off: (signal: StopSignal, listener: () => void) => void signals.off(signal, listener),
    leave: (signal: StopSignal) => void signals.removeAllListeners(signal),
    exit: (code: ExitCode) => void exits.push(code),
  };
  return { signals, exits, control };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('the first %s asks the job to stop, the second ends the process with %i', (name, code) => {
  const { signals, exits, control } = fakeProcess();
  const stops: string[] = [];
  const { signal } = listenForStop(control, (stop) => void stops.push(stop));
  expect(signal.aborted).toBe(false);

  signals.emit(name);
  expect(signal.reason).toMatchObject({ exitCode: code, message: `stopped by ${name}` });
  expect({ stops, exits }).toEqual({ stops: [name], exits: [] });

  signals.emit(name);
  expect({ stops, exits }).toEqual({ stops: [name], exits: [code] });
});

test('a job that does not stop is ended within five seconds', () => {
  const { signals, exits, control } = fakeProcess();
  listenForStop(control, () => undefined);
  signals.emit('SIGTERM');
  vi.advanceTimersByTime(3_999);
  expect(exits).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(exits).toEqual([143]);
});

test('a job that stopped in time ends by itself, and signals have their default effect again', () => {
  const { signals, exits, control } = fakeProcess();
  const stopping = listenForStop(control, () => undefined);
  signals.emit('SIGINT');
  stopping.dispose();
  vi.advanceTimersByTime(60_000);
  expect(exits).toEqual([]);
  expect(signals.eventNames()).toEqual([]);
});
