import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WAITING_MAX, WAITING_MS_MAX } from '../../../src/look/server/page-source.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { filledPlace, type Served, serve } from '../../support/dashboard/serve.ts';
import { postgresProxy } from '../../support/postgres/proxy.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { needsSessions, onDatabase, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const WEEK = '/?from=2026-02-02&until=2026-02-08';
const STATEMENT_MS_MAX = 300;

/** Asks for pages that differ, so that none of them is remembered. */
const askForMany = (served: Served, count: number) =>
  Array.from({ length: count }, (_, index) => served.ask(`${WEEK}&number=${index}`));

onDatabase(postgres, () => {
  /** Makes pages wait until the returned function is called. */
  async function holdReaders(place: Place): Promise<() => Promise<void>> {
    const other = await place.connect();
    await other.execute('BEGIN; LOCK TABLE user_daily IN ACCESS EXCLUSIVE MODE');
    return () => other.execute('ROLLBACK');
  }

  it('a request that finds too many waiting is refused at once, and the waiting ones get their pages', async () => {
    needsSessions(postgres);
    const place = await filledPlace(postgres);
    const served = await serve(place);
    const release = await holdReaders(place);
    const answers = askForMany(served, WAITING_MAX + 8);
    const refused: number[] = [];
    for (const [index, answer] of answers.entries()) void answer.then(() => refused.push(index));
    await expect.poll(() => refused.length).toBe(8);
    await release();
    const shown = await Promise.all(answers);
    const busy = shown.filter(({ status }) => status === 503);
    expect(shown.filter(({ status }) => status === 200)).toHaveLength(WAITING_MAX);
    expect(busy).toHaveLength(8);
    for (const { headers, body } of busy) {
      expect(headers['retry-after']).toBe('2');
      expect(body).toContain('Try again in a few seconds');
    }
    expect((await served.ask(WEEK)).status).toBe(200);
    expect(served.failures).toEqual([]);
  });

  it('a request that waited too long is refused when its turn comes, and later ones are answered', async () => {
    needsSessions(postgres);
    const place = await filledPlace(postgres);
    const clock = new FakeClock();
    const served = await serve(place, { clock });
    const release = await holdReaders(place);
    const answers = askForMany(served, 3);
    await expect.poll(() => waitsForLock(place)).toBe(true);
    await clock.advance(WAITING_MS_MAX + 1);
    await release();
    expect((await Promise.all(answers)).map(({ status }) => status).toSorted()).toEqual([200, 503, 503]);
    expect((await served.ask(`${WEEK}&number=1`)).status).toBe(200);
  });

  it('a server that goes away is named in the answer, and the pages are back with the server', async () => {
    const place = await filledPlace(postgres);
    let state: 'up' | 'silent' | 'gone' = 'up';
    const { url: location } = await postgresProxy(place.location, { state: () => state });
    const served = await serve({ location }, { statementMsMax: STATEMENT_MS_MAX });
    const first = await served.ask(WEEK);
    expect(first.status).toBe(200);
    for (const trouble of ['gone', 'silent'] as const) {
      state = trouble;
      const gone = await served.ask(`${WEEK}&trouble=${trouble}`);
      expect([trouble, gone.status, gone.body]).toEqual([
        trouble,
        503,
        expect.stringContaining('The warehouse cannot be read'),
      ]);
      expect(gone.headers['retry-after']).toBe('2');
      state = 'up';
      const back = await served.ask(`${WEEK}&after=${trouble}`);
      expect([trouble, back.status, back.body.includes('value="12000"')]).toEqual([trouble, 200, true]);
    }
    expect(served.failures).toHaveLength(2);
  });

  async function waitsForLock(place: Place): Promise<boolean> {
    const [row] = await place.query<{ n: number }>(
      "SELECT COUNT(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'user_daily'::regclass",
    );
    return row?.n === 1;
  }
});

describe('a connection that asks for nothing', () => {
  const limits = {
    headersTimeout: 1_500,
    requestTimeout: 2_000,
    keepAliveTimeout: 1_500,
    connectionsCheckingInterval: 50,
  };
  const START = 'GET / HTTP/1.1\r\nHost: ';

  testVariants([
    { what: 'headers that never end', sent: () => `${START}x\r\nX-Slow: `, answer: /^HTTP\/1.1 408 / },
    {
      what: 'a form that never comes',
      sent: (host: string) =>
        `POST /login HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\nSec-Fetch-Site: same-origin\r\n\r\ntoken=`,
      answer: /^HTTP\/1.1 408 /,
    },
    {
      what: 'a second request that never comes',
      sent: (host: string) => `GET /assets/none HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      answer: /^HTTP\/1.1 404 /,
    },
  ])('ends after $what, and other readers get their pages', async ({ sent, answer }) => {
    const served = await serve(await filledPlace(sqlite), { token: 'a-token-of-24-characters', limits });
    const silent = talk(served.host, sent(served.host));
    expect((await served.ask('/login')).status).toBe(200);
    expect(await silent).toMatch(answer);
  });
});

/** Sends a text, and returns what came until the server ended the connection. */
function talk(host: string, text: string): Promise<string> {
  const [hostname, port] = host.split(':');
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('close', () => resolve(received)).on('error', reject);
  });
}
