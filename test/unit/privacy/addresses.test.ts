import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { AddressHints, replaceAddresses } from '../../../src/privacy/addresses.ts';
import { Gate } from '../../../src/privacy/gate.ts';

/** What replaces an address must not be one. */
const replaced = (text: string) => replaceAddresses(text, (address) => `<${address.replace('@', ' at ')}>`);

describe('where a JSON text may hold an address', () => {
  test.each([
    ['@ e-mail', [0, 2, -1]],
    ['x@', [1, 1, -1]],
    ['@email', [0, 1, -1]],
    ['[5, true]', [-1, -1, -1]],
    ['a email @', [2, 2, 8]],
    ['QAx', [0, -1, -1]],
  ])('of %s is found from each position on', (text, expected) => {
    expect([0, 1, 6].map((from) => new AddressHints(text).from(from))).toEqual(expected);
    const hints = new AddressHints(text);
    expect([0, 1, 6].map((from) => hints.from(from))).toEqual(expected);
  });
});

describe('the text around an @', () => {
  test('counts as it is meant, and an escape of no character as it stands', () => {
    expect(replaced('%c3%80%80ada@example.com')).toContain('ada at example.com>');
    expect(replaced('%c3%80%80 ada@example.com')).toBe('%c3%80%80 <ada at example.com>');
  });

  test('is a name of 128 characters at most, and a domain of 255', () => {
    const name = 'a'.repeat(128);
    expect(replaced(`bb${name}@example.com`)).toBe(`bb<${name} at example.com>`);
    const long = `ada@${'a.'.repeat(130)}com`;
    expect(replaced(long)).toBe(long);
  });

  test.each(['%40', String.raw`\u0040`, '%40types%2Fnode%40', '&#64;'])(
    'is read once only, however many of %s there are',
    (sign) => {
      const text = sign.repeat(300_000 / sign.length);
      const decode = vi.spyOn(RegExp.prototype, Symbol.matchAll);
      expect(replaced(text)).toBe(text);
      const read = decode.mock.calls.reduce((sum, [part]) => sum + part.length, 0);
      decode.mockRestore();
      expect(read).toBeLessThan(10 * text.length);
    },
  );

  test('keeps what stands between two addresses, however long a sign of the second is written', () => {
    const dashes = `%2D%${'25'.repeat(509)}2D`;
    expect(replaced(`ada@example.com keep ${dashes}@b.io`)).toBe(`<ada at example.com> keep ${dashes}@b.io`);
  });
});

describe('an address', () => {
  test.each([
    ['ada@example.com', '<ada at example.com>'],
    ['ada@example.com@example.net', '<ada at example.com>'],
    ['ada@example.com+bob@example.net', '<ada at example.com>+<bob at example.net>'],
    ['ada@example.com.1', '<ada at example.com>.1'],
    [String.raw`ada\\@example.com`, '<ada at example.com>'],
    [String.raw`\u003cada@example.com`, String.raw`\u003c<ada at example.com>`],
    [String.raw`\u201cada@example.com\u201d`, String.raw`\u201c<ada at example.com>\u201d`],
    [String.raw`ask ada@example.com\u2026`, String.raw`ask <ada at example.com>\u2026`],
    ['山田ken@example.jp', '<山田ken at example.jp>'],
    ['ada@mail.example公司.cn', '<ada at mail.example公司.cn>'],
    ['ada@mail.example.co.jpの件', '<ada at mail.example.co.jpの件>'],
    ['李@例子.中国', '<李 at 例子.中国>'],
    ['%C2%A0ada%40example.com%E2%80%A6', '%C2%A0<ada at example.com>%E2%80%A6'],
    ['to%253Dada%2540example.com%253E', 'to%253D<ada at example.com>%253E'],
    ['100%25 ada%40example.com', '100%25 <ada at example.com>'],
    ['%FFada%40example.com', '%<FFada at example.com>'],
    ['u003cada@example.com', '<u003cada at example.com>'],
    [String.raw`\xu003cada@example.com`, String.raw`\<xu003cada at example.com>`],
    ['https://ada%40example.com/x', 'https://<ada at example.com>/x'],
    ['YWRhQGV4YW1wbGUuY29tPz8/', '<ada at example.com>'],
    ['x/YWRhQGV4YW1wbGUuY29t/y', 'x/<ada at example.com>/y'],
    ['@ada@example.com', '@<ada at example.com>'],
    ['a"b"@example.com', 'a<b at example.com>'],
    ['no address', 'no address'],
  ])('in %s is replaced, and the text around it stays', (text, expected) => {
    expect(replaced(text)).toBe(expected);
  });

  test.each([
    ['联系ada@example.com请回复', '联系<>请回复'],
    ['联系 ada@example.com으로', '联系 <>으로'],
    [String.raw`\u8054ada@example.com\u8bf7`, String.raw`\u8054<>\u8bf7`],
    ['联系bob@example.com请回复', '联系bob@example.com请回复'],
    ['李ada@example.com', '<>'],
    ['例子@ada@example.com', '例子@<>'],
  ])('that is known is found beside words of other scripts: %s', (text, expected) => {
    const known = ['ada@example.com', '李ada@example.com'];
    expect(replaceAddresses(text, (address) => (known.includes(address) ? '<>' : undefined))).toBe(expected);
  });

  test('that a replacement completes is replaced too', () => {
    expect(replaceAddresses('x"ada@b.io"@c.io', () => 'bob')).toBe('xbob');
  });

  test('that stays is written as it was', () => {
    expect(replaceAddresses('j%C3%B6rg@example.com', () => undefined)).toBe('j%C3%B6rg@example.com');
  });

  test.each([
    [127, '<ada at example.com>'],
    [128, '<ada at example.com>'],
    [129, `<ada at example.com>${'.'.repeat(129)}@example.net`],
  ])('takes a further domain with it that is %i characters away', (count, expected) => {
    expect(replaced(`ada@example.com${'.'.repeat(count)}@example.net`)).toBe(expected);
    expect(replaced(`${'x '.repeat(99)}ada@example.com${'.'.repeat(count)}@example.net`)).toBe(
      `${'x '.repeat(99)}${expected}`,
    );
  });

  test('in the user info of a URL stays, whatever follows it', () => {
    const text = `https://ada@github.com/acme ${'x'.repeat(2_000)}`;
    expect(replaced(text)).toBe(text);
  });

  test.each([
    ['ada＠example.com', 'ada@example.com'],
    ['ada＠example．com', 'ada@example.com'],
    ['j%C3%B6rg%40m%C3%BCller.example', 'jörg@müller.example'],
    ['ada%2540m%25C3%25BCller.example', 'ada@müller.example'],
    ['ada%252540m%2525C3%2525BCller.example', 'ada@müller.example'],
    ['j%25C3%25B6rg%2540m%25C3%25BCller.example', 'jörg@müller.example'],
    ['to%253D%25C3%25B6rg%2540m%25c3%25bcller.example', 'örg@müller.example'],
    ['%D0%B8%D0%B2%D0%B0%D0%BD%40%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84', 'иван@пример.рф'],
    ['j&#246;rg&#64;m&#xFC;ller.example', 'jörg@müller.example'],
    ['ada%252Elovelace%252Bx%2540example%252Ecom', 'ada.lovelace+x@example.com'],
    [String.raw`j\u00f6rg@m\u00fcller.example`, 'jörg@müller.example'],
    [String.raw`j\\u00f6rg@m\\u00fcller.example`, 'jörg@müller.example'],
    ['JÖRG@müller.example', 'jörg@müller.example'],
  ])('has one hash, however it is written: %s', (text, address) => {
    const hash = createHmac('sha256', 'pepper').update(address).digest('hex');
    expect(new Gate({ mode: 'hash', salt: 'pepper' }).text(text).replace('to%253D', '')).toBe(hash);
  });
});
