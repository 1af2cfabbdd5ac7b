/**
 * Generates documentation from declarations and results; `npm run docs`. With `--check` it writes nothing and exits with
 * code 1 if a file is stale.
 *
 * | file | source |
 * |---|---|
 * | docs/warehouse.md | `schema/` |
 * | docs/metrics.md | `schema/metrics/` |
 * | docs/commands.md | `src/cli/commands/` |
 * | .env.example, the table of docs/settings.md | `src/settings/` |
 * | the reason codes of docs/library.md | `src/api/calls.ts` |
 * | the exit codes of docs/operations.md | `scripts/exit-codes-table.ts` |
 * | the table of states in docs/trust.md | `src/ledger/transitions.ts` |
 * | the table of docs/monitoring.md | `src/serve/metrics/` |
 * | the tables and statements of docs/data-map.md | `schema/` |
 * | docs/images/architecture.svg | the imports of `src/`, `jobs/` and `schema/` |
 * | the tables of docs/scaling.md | `bench/scaling/` |
 * | the tables of docs/performance.md | `bench/results.json` |
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { performanceTables } from '../bench/performance-tables.ts';
import { scalingTables } from '../bench/scaling/tables.ts';
import { schemaMarkdown } from '../schema/reference/documentation.ts';
import { CLIENT_REASONS } from '../src/api/calls.ts';
import { architectureDrawing } from './architecture-drawing.ts';
import { commandsPage } from './commands-page.ts';
import { dataMapMarkdown, grantsSql } from './data-map-page.ts';
import { exitCodesMarkdown } from './exit-codes-table.ts';
import { metricsMarkdown } from './metrics-page.ts';
import { metricsTable } from './monitoring-table.ts';
import { dotenvExample, settingsMarkdown } from './settings-page.ts';
import { transitionsTable } from './transitions-table.ts';

const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** The text of a file in which the blocks between markers are replaced. */
function filled(file: string, blocks: Readonly<Record<string, string>>): string {
  return Object.entries(blocks).reduce((text, [name, block]) => {
    const marked = new RegExp(`(<!-- ${name}:begin -->\\n)[\\s\\S]*?(<!-- ${name}:end -->)`);
    return text.replace(marked, (_, begin, end) => `${begin}${block}${end}`);
  }, read(file));
}

const reasonsTable = [
  '| reason | meaning |',
  '|---|---|',
  ...Object.entries(CLIENT_REASONS).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
  '',
].join('\n');

const generated: Readonly<Record<string, string>> = {
  'docs/warehouse.md': schemaMarkdown(),
  'docs/metrics.md': metricsMarkdown(),
  'docs/commands.md': commandsPage(),
  '.env.example': dotenvExample(),
  'docs/settings.md': filled('docs/settings.md', { settings: settingsMarkdown() }),
  'docs/library.md': filled('docs/library.md', { reasons: reasonsTable }),
  'docs/operations.md': filled('docs/operations.md', { 'exit-codes': exitCodesMarkdown() }),
  'docs/trust.md': filled('docs/trust.md', { states: transitionsTable() }),
  'docs/monitoring.md': filled('docs/monitoring.md', { metrics: metricsTable() }),
  'docs/data-map.md': filled('docs/data-map.md', {
    'data-map': dataMapMarkdown(),
    grants: grantsSql(),
  }),
  'docs/images/architecture.svg': architectureDrawing(),
  'docs/performance.md': filled('docs/performance.md', performanceTables()),
  'docs/scaling.md': filled('docs/scaling.md', scalingTables()),
};

for (const [file, text] of Object.entries(generated)) {
  if (read(file) === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} is stale; run npm run docs\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, text);
    process.stdout.write(`wrote ${file}\n`);
  }
}
