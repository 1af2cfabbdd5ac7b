import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { AnswersDigest } from '../../../../../src/pipeline/run/known-ledger.ts';

const SLICE_CHARS = 256 * 1024;

/** A text with a surrogate pair at this distance before the end of the first slice. */
function withPair(before: number): string {
  return `${'x'.repeat(SLICE_CHARS - before)}\u{1F600}${'y'.repeat(2 * SLICE_CHARS)}`;
}

it.each([
  ['nothing', ''],
  ['less than a slice', 'ünïcode'],
  ['a slice', 'x'.repeat(SLICE_CHARS)],
  ['many slices', 'x'.repeat(5 * SLICE_CHARS + 1)],
  ['a pair before the end of a slice', withPair(2)],
  ['a pair across the end of a slice', withPair(1)],
  ['a pair after the end of a slice', withPair(0)],
  ['half a pair at the end', `${'x'.repeat(SLICE_CHARS - 1)}\uD83D`],
  ['pairs only', '\u{1F600}'.repeat(SLICE_CHARS)],
])('the digest of answers covers their whole texts: %s', (_, text) => {
  const digest = new AnswersDigest('maker');
  digest.add('a');
  digest.add(text);
  const whole = createHash('sha256').update(`maker\n1\na${text.length}\n`).update(text).digest('hex');
  expect(digest.hex()).toBe(whole);
});
