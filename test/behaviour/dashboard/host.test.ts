import { describe, expect, it } from 'vitest';
import { filledPlace, serve } from '../../support/dashboard/serve.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

describe('the dashboard', () => {
  it('answers to names of this machine with its port, and to no other name', async () => {
    const served = await serve(await filledPlace(sqlite));
    const port = served.host.split(':')[1];
    const statusOf = async (host: string) =>
      (await served.ask('/assets/style.css', { headers: { host } })).status;
    for (const own of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect([own, await statusOf(own)]).toEqual([own, 200]);
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      'localhost',
      `localhost:${Number(port) + 1}`,
      `localhost:${port}@evil.example`,
    ];
    for (const host of foreign) expect([host, await statusOf(host)]).not.toEqual([host, 200]);
    const refused = await served.ask('/', { headers: { host: '"><script>alert(1)</script>' } });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.body).not.toContain('<script>');
  });

  it('tells how to allow a name, and answers to it once it is allowed', async () => {
    const place = await filledPlace(sqlite);
    const closed = await serve(place);
    const refused = await closed.ask('/', { headers: { host: 'daywalk.example.com' } });
    expect(refused.status).toBe(421);
    expect(refused.body).toContain('--allowed-host daywalk.example.com');
    const allowed = await serve(place, { allowedHosts: ['daywalk.example.com', 'other.example:8080'] });
    const statusOf = async (host: string) =>
      (await allowed.ask('/assets/style.css', { headers: { host } })).status;
    expect(await statusOf('daywalk.example.com')).toBe(200);
    expect(await statusOf('daywalk.example.com:4000')).toBe(200);
    expect(await statusOf('other.example:8080')).toBe(200);
    expect(await statusOf('other.example')).toBe(421);
  });
});
