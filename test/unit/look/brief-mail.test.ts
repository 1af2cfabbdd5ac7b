import { describe, expect, test } from 'vitest';
import {
  htmlOf,
  type Mail,
  messageOf,
  subjectOf,
  textOf,
  withoutPeople,
} from '../../../src/look/brief/mail.ts';
import { noNumber, type ShownNumber } from '../../../src/look/numbers.ts';
import { readable } from '../../support/audience/readable.ts';

const HOSTILE = '<script>alert(1)</script>\r\nBcc: all@example.com\u202e\u0007\u001b[31m"&\'\ud800';

const number = (value: number): ShownNumber => ({
  ...{ kind: 'number', value, format: 'count' },
  formula: { op: 'sum', of: [] },
});

const mailWith = (name: string): Mail => ({
  subject: `Daywalk: ${name}`,
  about: name,
  title: name,
  banner: { title: name, text: `${name} \`daywalk run\`` },
  sentence: ['It cost ', { kind: 'strong', parts: [number(1034)] }, ' for ', name],
  parts: [
    {
      title: name,
      subtitle: name,
      table: {
        columns: [{ title: name }, { title: 'Bar' }, { title: 'Spent', align: 'end' }],
        rows: [
          [
            { kind: 'link', text: name, path: '/teams/x' },
            { kind: 'bullet', spent: 50, forecast: 120, range: null, budget: 100 },
            number(50),
          ],
          [
            { kind: 'text', text: 'Web' },
            { kind: 'bullet', spent: null, forecast: null, range: null, budget: null },
            noNumber('none'),
          ],
        ],
      },
      words: [[name]],
    },
  ],
  footer: [[name]],
  href: (path) => `https://daywalk.example.com${path}?a=1&b=2`,
});

/** The words of markup, in their order. */
function wordsIn(markup: string): string[] {
  const body = markup.slice(markup.indexOf('<body')).replaceAll(/<[^>]*>/g, ' ');
  return readable(body.replaceAll('&nbsp;', ' '))
    .split(/\s+/)
    .filter((word) => word !== '');
}

describe('a mail', () => {
  test('with a hostile name is one subject line, text without control characters and markup without a tag of the name', async () => {
    const mail = mailWith(HOSTILE);
    const [subject, text, html] = [subjectOf(mail), textOf(mail), await htmlOf(mail)];
    for (const part of [subject, text.replaceAll('\n', ''), html.replaceAll('\n', '')])
      expect(part).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    expect(subject).toMatch(/^Daywalk: <script>alert\(1\)<\/script> Bcc: all@example\.com/);
    expect(text.split('\n').filter((line) => line.startsWith('Bcc'))).toEqual([]);
    expect(html).not.toMatch(/<script|\son\w+=/i);
    expect(html).toContain('&lt;script&gt;');
    const message = messageOf(subject, text, html);
    const [headers = ''] = message.split('\n\n');
    expect(
      headers.split('\n').filter((line) => !/^( |Subject: |MIME-Version: |Content-Type: )/.test(line)),
    ).toEqual([]);
  });

  test('has the same words in its text and its HTML, apart from drawings', async () => {
    const mail = mailWith('Web & Söhne');
    const text = textOf({
      ...mail,
      title: 'TITLE',
      parts: mail.parts.map((part) => ({ ...part, title: 'PART' })),
    });
    const html = await htmlOf({
      ...mail,
      title: 'TITLE',
      parts: mail.parts.map((part) => ({ ...part, title: 'PART' })),
    });
    const words = (all: string[]) =>
      all
        .map((word) => word.replaceAll('`', ''))
        .filter((word) => word !== '!' && word !== 'Bar')
        .toSorted();
    expect(words(wordsIn(html))).toEqual(words(text.split(/\s+/).filter((word) => word !== '')));
  });

  test('aligns its numbers, and writes a dash for one that does not exist', () => {
    const lines = textOf(mailWith('Söhne')).split('\n');
    expect(lines).toContain('Söhne  Spent');
    expect(lines).toContain('Söhne     50');
    expect(lines).toContain('Web        –');
    expect(lines.every((line) => line.length <= 76)).toBe(true);
  });

  test('isolates a name that is written from right to left, and cuts an endless one', async () => {
    const text = textOf(mailWith('فريق'));
    expect(text).toContain('\u2068فريق\u2069');
    const long = mailWith('x'.repeat(10_000));
    expect([...subjectOf(long)].length).toBeLessThanOrEqual(160);
    expect(await htmlOf(long)).toMatch(/>x{47}…</);
  });

  test('draws spent, forecast and budget as cells whose widths add up', async () => {
    const html = await htmlOf(mailWith('Söhne'));
    const bars = [...html.matchAll(/table-layout:fixed"><tr>((?:<td width="\d+%".*?<\/td>)+)<\/tr>/g)].map(
      ([, cells = '']) =>
        Array.from(
          cells.matchAll(/<td width="(\d+)%"[^>]*?(?:bgcolor="(#\w+)")?>&nbsp;/g),
          ([, width, color = '']) => [Number(width), color],
        ),
    );
    expect(bars).toEqual([
      // 150 is the whole width: spent 33, forecast 80, the budget at 67.
      [
        [33, '#3b4cca'],
        [34, '#b9c1ee'],
        [2, '#15181e'],
        [11, '#b9c1ee'],
        [20, ''],
      ],
      [[100, '']],
    ]);
  });

  test('is a message that a mail program reads: subject and both parts', () => {
    const subject = 'Daywalk: 3,375\u202fEUR, −14.3\u202f%, فريق, 🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂';
    const message = messageOf(subject, 'text −\n', '<p>html −</p>\n');
    expect(message.split('\n').every((line) => line.length <= 76 && /^[\x20-\x7e]*$/.test(line))).toBe(true);
    const [, header = ''] = /^Subject: ((?:.*\n )*.*)\n/.exec(message) ?? [];
    const words = Array.from(header.matchAll(/=\?UTF-8\?B\?([^?]*)\?=/g), ([, word = '']) =>
      Buffer.from(word, 'base64').toString(),
    );
    expect(words.join('')).toBe(subject);
    const [, boundary = ''] = /boundary="([^"]+)"/.exec(message) ?? [];
    const [, text = '', html = '', end] = message.split(`--${boundary}`);
    const contentOf = (part: string) => Buffer.from(part.split('\n\n')[1] ?? '', 'base64').toString();
    expect([contentOf(text), contentOf(html), end]).toEqual(['text −\n', '<p>html −</p>\n', '--\n']);
    expect(text).toContain('Content-Type: text/plain; charset=utf-8');
    expect(html).toContain('Content-Type: text/html; charset=utf-8');
  });

  test('leaves out the name of a group that names a person, and its link', async () => {
    const mail = withoutPeople(mailWith('Ada Lovelace'), (name) => name === 'Ada Lovelace');
    const [row] = mail.parts[0]?.table?.rows ?? [];
    expect(row?.[0]).toEqual({ kind: 'text', text: 'named after a person' });
  });
});
