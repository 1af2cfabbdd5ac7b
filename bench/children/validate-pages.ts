// Parses the pages, then validates and normalizes them as a run does, and measures both. The first round is discarded,
// because it includes compiling.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyticsPage } from '../../src/api/pages.ts';
import { parseDay } from '../../src/core/day.ts';
import { collectDays, type DayCollector } from '../../src/pipeline/run/prepare-batch.ts';

const [folder = '', rounds] = process.argv.slice(2);
const texts = readdirSync(folder)
  .sort()
  .map((name) => readFileSync(join(folder, name), 'utf8'));

function round() {
  let parseMs = 0;
  let prepareMs = 0;
  let day = '';
  let collected: DayCollector | undefined;
  for (const text of texts) {
    const start = performance.now();
    const body = JSON.parse(text);
    const parsed = performance.now();
    const page = analyticsPage({ status: 200, text, body, requestId: undefined }, 'a prepared page');
    const date = parseDay(page.meta.start_date ?? '');
    if (date !== day) {
      collected?.finish();
      day = date;
      collected = collectDays({ stream: 'users', days: [date] }, { orgId: page.meta.org_id });
    }
    collected?.add(page);
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
