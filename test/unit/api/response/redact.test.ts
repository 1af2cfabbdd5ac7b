import { expect, test } from 'vitest';
import { withoutKeys } from '../../../../src/http/response.ts';

test('of two keys with a common prefix both are redacted completely', () => {
  const [short, long] = ['sk-0123456789', 'sk-0123456789-and-more'];
  for (const keys of [
    [short, long],
    [long, short],
  ])
    expect(withoutKeys(keys).any(`a ${long} b ${short} c sk-\\u003012345678${'9'}`)).toBe(
      'a [redacted] b [redacted] c [redacted]',
    );
});
