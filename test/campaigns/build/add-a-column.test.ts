import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../support/suite/temp-dir.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The changes by hand for a new metric of /users, in the order in which CONTRIBUTING.md names their places. */
const EDITS = [
  { file: 'schema/tables/daily.ts', add: "    reviews: metric('reviews written')," },
  { file: 'src/contract/shapes.ts', add: '  reviews: Metric,' },
] as const;

/** Normalizes one record and prints the rows of `user_daily` that come out. */
const NORMALIZE = `
import { exactText } from './src/contract/exact.ts';
import { Findings } from './src/pipeline/normalize/records.ts';
import { normalizeUsers } from './src/pipeline/normalize/users.ts';
import { privacyOf } from './src/privacy/email.ts';
const record = { user_id: 'u', date: '2026-02-01', messages: 1, reviews: 7 };
const privacy = privacyOf({ mode: 'keep' });
const findings = new Findings(privacy);
const users = normalizeUsers();
users.add(record, { orgId: 'org', privacy, findings, exact: exactText({ text: JSON.stringify(record), body: record }) });
console.log(JSON.stringify({ rows: users.finish()[0].texts, drift: findings.drift }));
`;

/** A copy of the sources that can be compiled and run. */
function scratchCopy() {
  const folder = tempDir();
  for (const name of ['src', 'schema', 'jobs', 'scripts', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const config = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ ...config, include: ['src', 'schema', 'jobs'] }),
  );
  writeFileSync(join(folder, 'normalize.mts'), NORMALIZE);
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return {
    compile: () =>
      run(
        'node_modules/typescript/bin/tsc',
        '--noEmit',
        '--incremental',
        '--tsBuildInfoFile',
        'compiled',
      ).stdout.trim(),
    run: (...args: string[]) => run(...args).stdout.trim(),
    edit: ({ file, add }: (typeof EDITS)[number]) => {
      const path = join(folder, file);
      const [before = '', line = '', rest = ''] = readFileSync(path, 'utf8').split(
        /( +assistant_messages: .*\n)/,
      );
      writeFileSync(path, `${before}${line}${add}\n${rest}`);
    },
    migrations: (database: string) => {
      const place = join(folder, 'schema/migrations', database);
      return readdirSync(place)
        .filter(
          (name) => name.endsWith('.sql') && !existsSync(join(ROOT, 'schema/migrations', database, name)),
        )
        .map((name) => readFileSync(join(place, name), 'utf8').trim());
    },
  };
}

test('a new column takes two files by hand, which CONTRIBUTING.md names; the compiler names what is missing', () => {
  const copy = scratchCopy();
  const [declaration, shape] = EDITS;
  copy.edit(declaration);
  const errors = copy.compile();
  expect(errors).toContain("Property 'reviews' is missing");
  expect(errors.match(/error TS/g)).toHaveLength(1);
  copy.edit(shape);
  expect(copy.compile()).toBe('');
  expect(JSON.parse(copy.run('normalize.mts'))).toEqual({
    rows: [
      '[["org","2026-02-01","u",null,null,null,null,null,null,null,null,null,null,null,null,null,null,1,null,null,7,null,null,null]]',
    ],
    drift: [],
  });

  copy.run('scripts/generate-migrations.ts', 'reviews');
  expect(copy.migrations('sqlite')).toEqual(['ALTER TABLE `user_daily` ADD `reviews` real;']);
  expect(copy.migrations('postgres')).toEqual([
    'ALTER TABLE "user_daily" ADD COLUMN "reviews" double precision;',
  ]);

  const [, answer = ''] =
    /^\| add a column \|(.*)\|$/m.exec(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')) ?? [];
  const places = [...answer.matchAll(/`((?:src|schema)\/[^`]*)`/g)].map(([, place = '']) => place);
  expect(EDITS.map(({ file }) => places.find((place) => file.startsWith(place)))).toEqual(
    places.slice(0, EDITS.length),
  );
  expect(answer).toContain('two files');
});
