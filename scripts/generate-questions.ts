/** Writes docs/questions.md: `npm run docs:questions`. It exports the demo, so it takes some seconds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_FILE, demoSettings, runDemo } from '../jobs/demo.ts';
import { systemClock } from '../src/core/clock.ts';
import { DEMO_DAY, questionsPage } from './questions-page.ts';

const directory = mkdtempSync(join(tmpdir(), 'daywalk-questions-'));
const clock = systemClock(new Date(`${DEMO_DAY}T03:00:00Z`));
try {
  const context = { clock, observe: () => undefined, signal: new AbortController().signal };
  await runDemo({ directory, keep: false }, context);
  // The page only reads what the demo has exported, so no service has to be named.
  const settings = demoSettings(join(directory, DEMO_FILE), { url: 'http://127.0.0.1', apiKey: '' });
  writeFileSync('docs/questions.md', await questionsPage(settings, clock));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
