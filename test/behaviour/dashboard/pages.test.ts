import { describe, expect, it } from 'vitest';
import { PAGE_KINDS } from '../../../src/look/pages/all-pages.ts';
import { filledPlace, serve } from '../../support/dashboard/serve.ts';
import { HOSTILE } from '../../support/metrics/small-warehouse.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const PERIOD = 'from=2026-02-02&until=2026-02-08';

describe('the pages of the dashboard', () => {
  it('are all shown, link to each other with the filters, and load nothing from elsewhere', async () => {
    const served = await serve(await filledPlace(sqlite));
    for (const { name, path } of PAGE_KINDS) {
      if (name === undefined) continue;
      const page = await served.ask(`${path}?${PERIOD}`);
      expect([path, page.status]).toEqual([path, 200]);
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.headers['cache-control']).toContain('no-store');
      expect(page.headers['x-content-type-options']).toBe('nosniff');
      expect(page.headers['referrer-policy']).toBe('no-referrer');
      for (const other of PAGE_KINDS)
        if (other.name !== undefined)
          expect(page.body).toContain(`href="${other.path}?${PERIOD.replace('&', '&amp;')}"`);
      expect(page.body).not.toMatch(/\s(style|on[a-z]+)="|<script>|https?:\/\/(?!www\.w3\.org)/);
    }
    expect(served.failures).toEqual([]);
  });

  it('are those of the month of the newest loaded day without filters', async () => {
    const served = await serve(await filledPlace(sqlite));
    const page = await served.ask('/');
    expect(page.body).toContain('name="from" value="2026-02-01"');
    expect(page.body).toContain('name="until" value="2026-02-08"');
  });

  it('explain filters that cannot be, and keep the form', async () => {
    const served = await serve(await filledPlace(sqlite));
    const wrong = {
      'from=2026-02-30': 'write days as YYYY-MM-DD',
      'from=yesterday': 'write days as YYYY-MM-DD',
      'from=2026-02-08&until=2026-02-02': 'reversed',
      'from=2025-01-01': 'before the first day',
      'until=2999-01-01': 'a day that is not over yet',
      'team=coer': 'core',
      'org=org_2': 'choose one of org_1',
      'page=0': 'count pages from 1',
    };
    for (const [query, remedy] of Object.entries(wrong)) {
      const page = await served.ask(`/people?${query}`);
      expect([query, page.status]).toEqual([query, 400]);
      expect(page.body.toLowerCase()).toContain(remedy.toLowerCase());
      expect(page.body).toContain('name="from"');
    }
    const hostile = await served.ask(`/?team=${encodeURIComponent('<script>alert(1)</script>')}`);
    expect(hostile.status).toBe(400);
    expect(hostile.body).not.toContain('<script>alert');
  });

  it('exist for people with any ID, and not for others', async () => {
    const served = await serve(await filledPlace(sqlite));
    expect((await served.ask(`/people/${encodeURIComponent(HOSTILE)}?${PERIOD}`)).status).toBe(200);
    expect((await served.ask(`/people/ada?${PERIOD}`)).status).toBe(200);
    for (const path of [
      '/people/eve',
      '/people/%',
      '/people/%ff',
      '/people/',
      '/nowhere',
      '/People',
      '/people/a%2Fb',
    ])
      expect([path, (await served.ask(path)).status]).toEqual([path, 404]);
    expect((await served.ask(`/people/${'a'.repeat(10_000)}`)).status).toBe(414);
  });

  it('are read, and nothing else can be done to them', async () => {
    const served = await serve(await filledPlace(sqlite));
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const shown = await served.ask('/', { method });
      expect([method, shown.status, shown.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
    const head = await served.ask('/', { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
  });

  it('say what to do where nothing is exported yet', async () => {
    const warehouse = await open(sqlite);
    const served = await serve(warehouse.place);
    const page = await served.ask('/');
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('with daywalk run')]);
  });

  it('have a style sheet and a script that a browser asks for once', async () => {
    const served = await serve(await filledPlace(sqlite));
    for (const path of ['/assets/style.css', '/assets/script.js']) {
      const first = await served.ask(path);
      expect(first.status).toBe(200);
      const etag = first.headers.etag ?? '';
      expect((await served.ask(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    }
    expect((await served.ask('/assets/other')).status).toBe(404);
  });
});
