import { expect, test } from 'vitest';
import { linkTo } from '../../../src/look/page.ts';

test.each(['user_1', 'a/b?c#d', '<script>alert(1)</script>', '\u202eresu', '…/..', '100%'])(
  'a link to %j leads to a path that decodes to it',
  (id) => {
    const cell = linkTo('/people', id, id);
    if (cell.kind !== 'link') throw new Error(`${id} has no link`);
    const { pathname } = new URL(cell.path, 'http://127.0.0.1');
    expect(decodeURIComponent(pathname.slice('/people/'.length))).toBe(id);
    expect(cell.path).toMatch(/^\/people\/[^/?#<>]+$/);
  },
);

test.each(['', '.', '..', 'x'.repeat(10_000), '\ud800'])(
  'what no address can name (case %#) is shown without a link',
  (id) => {
    expect(linkTo('/people', id, 'name')).toEqual({ kind: 'text', text: 'name' });
  },
);
