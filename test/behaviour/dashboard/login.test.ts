import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { type Ask, filledPlace, type Served, type Shown, serve } from '../../support/dashboard/serve.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TOKEN = 'correct-horse-battery-staple';

const form = (fields: Record<string, string>, headers: Record<string, string> = {}): Ask => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  body: String(new URLSearchParams(fields)),
});
const logIn = (served: Served, token = TOKEN, more: Record<string, string> = {}) =>
  served.ask('/login', form({ token, ...more }));
const cookieOf = ({ headers }: Shown) => headers['set-cookie']?.[0] ?? '';
const sessionOf = (shown: Shown) => cookieOf(shown).split(';')[0] ?? '';

async function withToken(clock = new FakeClock()): Promise<Served> {
  return serve(await filledPlace(sqlite), { token: TOKEN, clock });
}

describe('a dashboard with a token', () => {
  it('shows no page without a session, and leads to the page after the login', async () => {
    const served = await withToken();
    for (const path of ['/', '/people', '/people/ada', '/nowhere', '/data?from=2026-02-02']) {
      const shown = await served.ask(path);
      expect(shown.status).toBe(303);
      expect(shown.headers.location).toMatch(/^\/login/);
      expect(shown.body).toBe('');
    }
    const asked = await served.ask('/login?next=%2Fpeople%3Fsort%3D-credits');
    expect(asked.body).toContain('value="/people?sort=-credits"');
    const entered = await logIn(served, TOKEN, { next: '/people?sort=-credits' });
    expect([entered.status, entered.headers.location]).toEqual([303, '/people?sort=-credits']);
    const page = await served.ask('/people', { headers: { cookie: sessionOf(entered) } });
    expect(page.status).toBe(200);
    expect(page.body).toContain('action="/logout"');
  });

  it('keeps the session in a cookie that scripts and other sites do not get, and that is not the token', async () => {
    const served = await withToken();
    const cookie = cookieOf(await logIn(served));
    expect(cookie).toMatch(/; Path=\/;.*; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(TOKEN);
    const other = cookieOf(await logIn(served));
    expect(other.split(';')[0]).not.toBe(cookie.split(';')[0]);
    const https = form({ token: TOKEN }, { 'x-forwarded-proto': 'https' });
    expect(cookieOf(await served.ask('/login', https))).toMatch(/; Secure$/);
  });

  it('refuses wrong tokens and made-up sessions', async () => {
    const served = await withToken();
    for (const wrong of ['', 'x', `${TOKEN} `, TOKEN.slice(1)]) {
      const refused = await logIn(served, wrong);
      expect([refused.status, cookieOf(refused)]).toEqual([403, '']);
    }
    const name = sessionOf(await logIn(served)).split('=')[0];
    for (const value of ['', TOKEN, 'undefined', '../', 'a'.repeat(5000)]) {
      const shown = await served.ask('/', { headers: { cookie: `${name}=${value}` } });
      expect(shown.status).toBe(303);
    }
  });

  it('ends a session at the logout and after twelve hours', async () => {
    const clock = new FakeClock();
    const served = await withToken(clock);
    const [first, second] = [sessionOf(await logIn(served)), sessionOf(await logIn(served))];
    const statusOf = async (cookie: string) => (await served.ask('/nowhere', { headers: { cookie } })).status;
    expect([await statusOf(first), await statusOf(second)]).toEqual([404, 404]);
    const left = await served.ask('/logout', form({}, { cookie: first }));
    expect([left.status, left.headers.location]).toEqual([303, '/login']);
    expect(cookieOf(left)).toContain('Max-Age=0');
    expect([await statusOf(first), await statusOf(second)]).toEqual([303, 404]);
    await clock.advance(12 * 3_600_000);
    expect(await statusOf(second)).toBe(303);
  });

  it('allows five wrong attempts a minute, and then not even the right token', async () => {
    const clock = new FakeClock();
    const served = await withToken(clock);
    for (let attempt = 1; attempt <= 5; attempt += 1) expect((await logIn(served, 'wrong')).status).toBe(403);
    const blocked = await logIn(served);
    expect([blocked.status, blocked.headers['retry-after'], cookieOf(blocked)]).toEqual([429, '60', '']);
    await clock.advance(60_000);
    expect((await logIn(served)).status).toBe(303);
  });

  it('leads to its own pages only', async () => {
    const served = await withToken();
    const elsewhere = [
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      'https://evil.example/',
      'javascript:alert(1)',
      '/\t/evil.example',
      '/a\r\nset-cookie: x=1',
      'people',
      '',
    ];
    for (const next of elsewhere) {
      const entered = await logIn(served, TOKEN, { next });
      expect([next, entered.status, entered.headers.location]).toEqual([next, 303, '/']);
    }
  });

  it('refuses forms of other sites and forms that are too long', async () => {
    const served = await withToken();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'http://evil.example' },
    ])
      expect((await served.ask('/login', form({ token: TOKEN }, headers))).status).toBe(403);
    const own = form({ token: TOKEN }, { 'sec-fetch-site': 'same-origin', origin: served.url });
    expect((await served.ask('/login', own)).status).toBe(303);
    expect((await logIn(served, 'x'.repeat(5_000))).status).toBe(413);
  });
});

describe('a dashboard without a token', () => {
  it('has no login', async () => {
    const served = await serve(await filledPlace(sqlite));
    expect((await served.ask('/login')).status).toBe(404);
    expect((await logIn(served)).status).toBe(405);
  });
});
