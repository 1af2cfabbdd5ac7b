// Parses the pages, then validates and normalizes them as a run does, and takes the time of both. The first round is
// thrown away: it is spent on compiling.

import { privacyOf } from '../../dist/src/pipeline/privacy.js';
import { collectDays } from '../../dist/src/pipeline/run/days.js';
import { pageTexts } from './pages-on-disk.mjs';

const [folder, rounds] = process.argv.slice(2);
const texts = [...pageTexts(folder)];
const privacy = privacyOf({ mode: 'keep' });

function round() {
  let parseMs = 0;
  let prepareMs = 0;
  let day = '';
  let collected;
  for (const text of texts) {
    const start = performance.now();
    const body = JSON.parse(text);
    const parsed = performance.now();
    const [{ date }] = body.data;
    if (date !== day) {
      collected?.finish();
      day = date;
      collected = collectDays({ stream: 'users', days: [day] }, { orgId: body.meta.org_id, privacy });
    }
    collected.add({ status: 200, text, body, requestId: undefined, ...body });
    parseMs += parsed - start;
    prepareMs += performance.now() - parsed;
  }
  const start = performance.now();
  collected?.finish();
  prepareMs += performance.now() - start;
  return { parseMs, prepareMs };
}

round();
process.stdout.write(JSON.stringify(Array.from({ length: Number(rounds) }, round)));
