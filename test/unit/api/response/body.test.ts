import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  BodyBytes,
  BodyTooLargeError,
  decodeBody,
  decodeUtf8,
  release,
} from '../../../../src/http/exchange.ts';
import { BODY_BYTES_MAX } from '../../../../src/http/limits.ts';
import { thrownBy } from '../../../support/api/test-transport.ts';

const MIB = 1024 * 1024;

describe('a body', () => {
  const collected = (bytes: Buffer, bytesMax: number) => {
    const body = new BodyBytes(bytesMax);
    for (let start = 0; start < bytes.length; start += 300) body.add(bytes.subarray(start, start + 300));
    return body.take();
  };

  it('may be as large as allowed, and not a byte more', async () => {
    const bytes = Buffer.alloc(1000, 'x');
    expect(collected(bytes, 1000)).toEqual(bytes);
    expect(await decodeBody(gzipSync(bytes), 'gzip', 1000)).toEqual(bytes);
    expect(() => collected(bytes, 999)).toThrow(BodyTooLargeError);
    expect(await thrownBy(decodeBody(gzipSync(bytes), 'gzip', 999))).toBeInstanceOf(BodyTooLargeError);
  });

  it('may be large, in one piece or many, and its memory is released after reading', () => {
    const bytes = Buffer.alloc(5 * MIB, 'abcdefg');
    for (const step of [1_000, MIB, bytes.length]) {
      const body = new BodyBytes(bytes.length);
      for (let start = 0; start < bytes.length; start += step) body.add(bytes.subarray(start, start + step));
      const taken = body.take();
      const text = decodeUtf8(taken);
      release(taken);
      expect(taken.length).toBe(0);
      expect(text === bytes.toString('latin1')).toBe(true);
    }
  });

  it('that is small is unchanged after its release, as it may share a received buffer', () => {
    const taken = collected(Buffer.alloc(1000, 'x'), 1000);
    release(taken);
    expect(taken).toEqual(Buffer.alloc(1000, 'x'));
  });

  it('is decoded to the same for any size, on or off the main thread', async () => {
    const bytes = randomBytes(3 * MIB);
    for (const length of [0, 1, 63, 64, 65, 60_000, 70_000, MIB, bytes.length]) {
      const part = bytes.subarray(0, length);
      expect((await decodeBody(gzipSync(part), 'gzip', 3 * MIB)).equals(part)).toBe(true);
    }
  });

  it.each([1_000, 3 * MIB])('of %i bytes that is cut or broken is refused', async (length) => {
    const whole = gzipSync(randomBytes(length));
    const broken = Buffer.from(whole);
    const middle = Math.floor(whole.length / 2);
    broken.fill(0xff, middle, middle + 10);
    for (const bytes of [whole.subarray(0, -9), whole.subarray(0, middle), broken, Buffer.alloc(2)])
      expect(await thrownBy(decodeBody(bytes, 'gzip', 3 * MIB))).toBeInstanceOf(Error);
  });

  it('of a large size is refused at the first decoded byte above the limit', async () => {
    const bytes = gzipSync(randomBytes(3 * MIB));
    expect(await thrownBy(decodeBody(bytes, 'gzip', 3 * MIB - 1))).toBeInstanceOf(BodyTooLargeError);
  });

  it('with a wrong decoded length is still decoded', async () => {
    const bytes = randomBytes(50_000);
    // The length of the last of several members says nothing of the others.
    const members = Buffer.concat([gzipSync(bytes), gzipSync('')]);
    expect((await decodeBody(members, 'gzip', MIB)).equals(bytes)).toBe(true);
  });

  it('that decompresses far beyond its stated length is decoded in at most a thousand pieces', async () => {
    const members = Buffer.concat([gzipSync(Buffer.alloc(60 * MIB, ' '), { level: 9 }), gzipSync('')]);
    expect(members.length).toBeLessThan(64 * 1024);
    const allocated = vi.spyOn(Buffer, 'allocUnsafe');
    onTestFinished(() => allocated.mockRestore());
    expect(await decodeBody(members, 'gzip', BODY_BYTES_MAX)).toHaveLength(60 * MIB);
    expect(allocated.mock.calls.length).toBeLessThan(1_100);
  });

  it('may be empty, and may consist of several gzip members', async () => {
    expect(collected(Buffer.alloc(0), 10)).toEqual(Buffer.alloc(0));
    const members = Buffer.concat([gzipSync('{"a":'), gzipSync('1}')]);
    expect((await decodeBody(members, 'x-gzip', 100)).toString()).toBe('{"a":1}');
  });
});

describe('the text of bytes', () => {
  it.each(['', 'ascii', 'zwölf', '\u{1F600}', '\uFFFD', '\0'])('is %j', (text) => {
    expect(decodeUtf8(Buffer.from(text))).toBe(text);
  });

  it.each([[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]])(
    'is refused when they are not UTF-8: %j',
    (...bytes) => {
      expect(decodeUtf8(Buffer.from(bytes))).toBeUndefined();
    },
  );
});
