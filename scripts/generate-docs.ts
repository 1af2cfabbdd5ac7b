/**
 * Writes what is generated from declarations: `docs/warehouse.md` from `schema/`, `.env.example` and the table of
 * settings in `README.md` from `src/settings/`, the tables of `docs/scaling.md` from `bench/scaling/`, those of
 * `docs/performance.md` from `bench/results.json`. `npm run docs`; with `--check` it writes nothing and exits with 1 when something is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { performanceTables } from '../bench/performance-tables.ts';
import { scalingTables } from '../bench/scaling/tables.ts';
import { schemaMarkdown } from '../schema/reference.ts';
import { dotenvExample, settingsMarkdown } from '../src/settings/reference.ts';

const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** A file with the texts between its markers replaced. */
function filled(file: string, blocks: Readonly<Record<string, string>>): string {
  return Object.entries(blocks).reduce((text, [name, block]) => {
    const marked = new RegExp(`(<!-- ${name}:begin -->\\n)[\\s\\S]*?(<!-- ${name}:end -->)`);
    return text.replace(marked, (_, begin, end) => `${begin}${block}${end}`);
  }, read(file));
}

const generated: Readonly<Record<string, string>> = {
  'docs/warehouse.md': schemaMarkdown(),
  '.env.example': dotenvExample(),
  'README.md': filled('README.md', { settings: settingsMarkdown() }),
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
