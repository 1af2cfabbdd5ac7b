import { describe, expect, it } from 'vitest';
import {
  BusyError,
  DaywalkError,
  messageOf,
  RunError,
  StoppedError,
  StorageError,
  UnitError,
  UsageError,
} from '../../../src/core/errors.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { parseStreams } from '../../../src/settings/expected-settings.ts';

describe('an error', () => {
  it.each([
    [new UsageError('x'), 2, 'run'],
    [new UnitError('x'), 4, 'unit'],
    [new UnitError('x', { effect: 'retry' }), 4, 'retry'],
    [new RunError('x'), 4, 'run'],
    [new RunError('x', { exitCode: 5 }), 5, 'run'],
    [new StorageError('x'), 6, 'run'],
    [new BusyError('x'), 75, 'run'],
    [new StoppedError('SIGINT'), 130, 'run'],
    [new StoppedError('SIGTERM'), 143, 'run'],
  ])('%s ends with its exit code and effect', (error, exitCode, effect) => {
    expect(error).toBeInstanceOf(DaywalkError);
    expect(error).toMatchObject({ exitCode, effect, name: error.constructor.name });
  });

  it('carries the remedy and what caused it', () => {
    const cause = new Error('disk');
    expect(new StorageError('write', { cause, hint: 'free space' })).toMatchObject({
      cause,
      hint: 'free space',
    });
    expect('cause' in new StorageError('write')).toBe(false);
  });

  it('is described by its message, whatever was thrown', () => {
    expect(messageOf(new Error('x'))).toBe('x');
    expect(messageOf('x')).toBe('x');
    expect(messageOf(undefined)).toBe('undefined');
  });
});

describe('a list of streams', () => {
  it('is put in canonical order, each stream once', () => {
    expect(parseStreams('users, tokens,users')).toEqual(['tokens', 'users']);
    expect(parseStreams(STREAMS.toReversed().join(','))).toEqual([...STREAMS]);
  });

  it.each(['', ' , ', 'token', 'tokens;users', 'Tokens', '__proto__'])('is refused when it is %j', (list) => {
    expect(() => parseStreams(list)).toThrow(UsageError);
  });
});
