// Lets the pages pass the gate under each policy, then parses, validates and normalizes them as a run does, and measures the
// processor time of all of it. The first round is discarded, because it includes compiling, and the hashes of a run.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyticsPage } from '../../src/api/pages.ts';
import { parseDay } from '../../src/core/day.ts';
import { collectDays, type DayCollector } from '../../src/pipeline/run/prepare-batch.ts';
import { Gate } from '../../src/privacy/index.ts';

const [folder = '', rounds] = process.argv.slice(2);
const texts = readdirSync(folder)
  .sort()
  .map((name) => readFileSync(join(folder, name), 'utf8'));

const SALT = 'the salt of a benchmark';
const GATES = {
  keep: new Gate({ mode: 'keep' }),
  hash: new Gate({ mode: 'hash', salt: SALT }),
  pseudonym: new Gate({ mode: 'hash', salt: SALT, users: 'pseudonym' }, { keys: ['the key of a benchmark'] }),
};

function pass(gate: Gate): number {
  const start = process.cpuUsage();
  let day = '';
  let collected: DayCollector | undefined;
  for (const came of texts) {
    const text = gate.answer(came);
    const page = analyticsPage(
      { status: 200, text, body: JSON.parse(text), requestId: undefined },
      'a prepared page',
    );
    const date = parseDay(page.meta.start_date ?? '');
    if (date !== day) {
      collected?.finish();
      day = date;
      collected = collectDays({ stream: 'users', days: [date] }, { orgId: page.meta.org_id });
    }
    collected?.add(page);
  }
  collected?.finish();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

function round() {
  return { keep: pass(GATES.keep), hash: pass(GATES.hash), pseudonym: pass(GATES.pseudonym) };
}

round();
process.stdout.write(JSON.stringify(Array.from({ length: Number(rounds) }, round)));
