// Does the minimum to fetch the pages: eight requests at a time, and the responses are discarded.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [list, apiKey] = process.argv.slice(2);
const CONCURRENCY = 8;
const urls = JSON.parse(readFileSync(list, 'utf8')).map((url) => new URL(url));
const pool = new Pool(urls[0].origin, { connections: CONCURRENCY });
const headers = { authorization: `Bearer ${apiKey}` };

async function fetchPages() {
  for (let url = urls.shift(); url !== undefined; url = urls.shift()) {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: url.pathname + url.search,
      headers,
    });
    await body.dump({ limit: Number.POSITIVE_INFINITY });
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  }
}

await Promise.all(Array.from({ length: CONCURRENCY }, fetchPages));
await pool.close();
