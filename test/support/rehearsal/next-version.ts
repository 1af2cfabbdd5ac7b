import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
const INPUTS = [
  'src',
  'schema',
  'jobs',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** A field that the services send, and that only the next version knows. */
export const NEW_FIELD = 'reviews';

/** The next version knows a field of users that this one keeps as an unknown field. CONTRIBUTING.md explains both edits. */
const EDITS = [
  { file: 'schema/tables/daily.ts', add: `    ${NEW_FIELD}: metric('reviews written'),` },
  { file: 'src/contract/shapes.ts', add: `  ${NEW_FIELD}: Metric,` },
] as const;

/** The version that {@link buildNextVersion} builds. */
export const NEXT_VERSION = '9.9.9';

const run = promisify(execFile);

/**
 * Builds a newer version of the program in an empty folder: the sources of this one with another column and its migration.
 * @returns the path of its script.
 */
export async function buildNextVersion(folder: string): Promise<string> {
  for (const input of INPUTS) cpSync(join(ROOT, input), join(folder, input), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const { file, add } of EDITS)
    edit(join(folder, file), (text) => text.replace(/( +assistant_messages: .*\n)/, `$1${add}\n`));
  edit(join(folder, 'package.json'), (text) =>
    text.replace(/"version": "[^"]+"/, `"version": "${NEXT_VERSION}"`),
  );
  await run(process.execPath, ['scripts/generate-migrations.ts', NEW_FIELD], { cwd: folder });
  await run(process.execPath, ['scripts/build.mjs'], { cwd: folder });
  return join(folder, 'dist/src/cli/main.js');
}

function edit(path: string, change: (text: string) => string): void {
  const before = readFileSync(path, 'utf8');
  const after = change(before);
  if (after === before) throw new Error(`nothing changes in ${path}`);
  writeFileSync(path, after);
}
