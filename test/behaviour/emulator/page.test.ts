import { expect, test } from 'vitest';
import { type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

async function submit(
  at: Probe,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(fields);
  return fetch(`${at.emulator.url}/`, { method: 'POST', body, headers, redirect: 'manual' });
}

test('the page at / shows the day, quirks, rules and requests, and no key', async () => {
  const at = await probe({ quirks: { modelKey: 'model' } });
  expect((await at.get('/')).text).toContain('an organization that is made up');
  at.emulator.setRules([
    { id: 'a rule', match: { stream: 'users' }, action: { type: 'status', status: 503 } },
  ]);
  at.emulator.putDays('{"stream":"tools","date":"2026-02-03","rows":[]}');
  await at.get(pathOf('users', '2026-02-03'));
  await at.get('/<b>?q=<script>', { key: 'wrong-key' });
  const { status, headers, text } = await at.get('/');
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  for (const shown of [
    '2026-06-01',
    '2 requests',
    '&quot;modelKey&quot;:&quot;model&quot;',
    'a rule',
    '503',
    '/api/v1/analytics/users?startDate=2026-02-03',
    'tools 2026-02-03: 0 rows',
    'with the given days below',
  ])
    expect(text).toContain(shown);
  for (const hidden of [...Object.values(at.emulator.keys), 'wrong-key', '<b>', '<script'])
    expect(text).not.toContain(hidden);
  expect(at.emulator.journal().requests).toBe(2);
});

test('its forms change the emulator and lead back to it; anything else is refused', async () => {
  const at = await probe();
  const set = await submit(at, { action: 'today', today: '2026-07-01' });
  expect([set.status, set.headers.get('location'), at.emulator.today()]).toEqual([303, '/', '2026-07-01']);
  const wrong = await submit(at, { action: 'today', today: 'never' });
  expect([wrong.status, await wrong.text()]).toEqual([
    400,
    expect.stringContaining('give a day after 2026-01-14'),
  ]);
  expect((await submit(at, { action: 'constructor' })).status).toBe(400);
  expect((await submit(at, { action: 'reset' }, { origin: 'http://evil.example' })).status).toBe(403);
  expect(at.emulator.today()).toBe('2026-07-01');
  expect((await submit(at, { action: 'reset' }, { origin: at.emulator.url })).status).toBe(303);
  expect(at.emulator.today()).toBe('2026-06-01');
  expect((await fetch(`${at.emulator.url}/`, { method: 'DELETE' })).status).toBe(405);
});

test('with a token it does not show the JWT either', async () => {
  const token = 'token-0123456789abcdef';
  const { emulator } = await probe({ token });
  const answer = await fetch(`${emulator.url}/`, { headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  expect(text).toContain('Quirks that are not the default</dt><dd>none');
  expect(text).not.toContain(emulator.quirks().sessionsJwt);
});
