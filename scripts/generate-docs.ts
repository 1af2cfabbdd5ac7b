/**
 * Writes what is generated from declarations: `docs/warehouse.md` from `schema/`, `.env.example` and the table of
 * settings in `README.md` from `src/settings/`. `npm run docs`; with `--check` it writes nothing and exits with 1 when
 * something is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { schemaMarkdown } from '../schema/reference.ts';
import { dotenvExample, settingsMarkdown } from '../src/settings/reference.ts';

const BLOCK = /(<!-- settings:begin -->\n)[\s\S]*?(<!-- settings:end -->)/;

const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const readme = read('README.md');

const generated: Readonly<Record<string, string>> = {
  'docs/warehouse.md': schemaMarkdown(),
  '.env.example': dotenvExample(),
  ...(BLOCK.test(readme)
    ? { 'README.md': readme.replace(BLOCK, (_, begin, end) => `${begin}${settingsMarkdown()}${end}`) }
    : {}),
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
