import { describe, expect, test } from 'vitest';
import { describeFailure, failureOf } from '../../../src/cli/program/failure.ts';
import {
  BusyError,
  RunError,
  StoppedError,
  StorageError,
  UnitError,
  UsageError,
} from '../../../src/core/errors.ts';

describe('an error that ends a command', () => {
  test.each([
    [new UsageError('m'), 2],
    [new RunError('m', { exitCode: 3 }), 3],
    [new RunError('m'), 4],
    [new UnitError('m'), 4],
    [new StorageError('m'), 6],
    [new BusyError('m'), 75],
    [new StoppedError('SIGINT'), 130],
    [new StoppedError('SIGTERM'), 143],
    [new TypeError('m'), 1],
    ['thrown text', 1],
    [undefined, 1],
  ])('%o has its exit code', (error, exitCode) => {
    expect(failureOf(error).exitCode).toBe(exitCode);
  });

  test('is printed in at most two lines, whatever it contains', () => {
    const cause = new Error('inner');
    const error = new StorageError('write w.db:\n  disk\u001b[31m full\n', { cause, hint: 'make\nroom' });
    expect(describeFailure(failureOf(error), { debug: false })).toEqual([
      'daywalk: write w.db: disk\\x1b[31m full',
      'hint: make room',
    ]);
    expect(describeFailure(failureOf(new UsageError('alone')), { debug: false })).toEqual(['daywalk: alone']);
  });

  test('shows stacks, with those of the causes, only on request', () => {
    const failure = failureOf(new TypeError('outer', { cause: new RangeError('inner') }));
    expect(describeFailure(failure, { debug: false }).join('\n')).not.toMatch(/^\s*at /m);
    const text = describeFailure(failure, { debug: true }).join('\n');
    expect(text).toContain('TypeError: outer');
    expect(text).toContain('caused by: RangeError: inner');
    expect(text).toContain('failure.test');
  });

  test('that is a defect says how to report it', () => {
    const [message, hint] = describeFailure(failureOf(new TypeError('x is not a function')), {
      debug: false,
    });
    expect(message).toBe('daywalk: a defect in daywalk: x is not a function');
    expect(hint).toContain('DAYWALK_DEBUG=1');
  });
});
