/**
 * Prints the shape of the program: `npm run house`. `--list` names the files behind each figure. `--road` also runs the
 * program, and counts the files on the road of a user row.
 */
import { parseArgs } from 'node:util';
import { type House, measureHouse } from '../test/support/structure/house.ts';
import type { Road } from './road.ts';

const { values: given } = parseArgs({
  options: { list: { type: 'boolean', default: false }, road: { type: 'boolean', default: false } },
});

function say(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** The room of a file: `src/api`, `jobs`, `schema`. */
function roomOf(path: string): string {
  return /^(src\/[^/]+|jobs|schema)\//.exec(path)?.[1] ?? path;
}

function printTable({
  files,
  meanLines,
  codeLines,
  single,
  singlePercent,
  chain,
  dust,
  doors,
  mixed,
}: House): void {
  const rows: readonly (readonly [string, string])[] = [
    ['files', `${files.length}`],
    ['lines per file, mean', `${Math.round(meanLines)}`],
    ['lines of code without imports', codeLines.toLocaleString('en')],
    ['files with one importer', `${single.length} (${Math.round(singlePercent)} %)`],
    ['… of them short and beside it', `${dust.length}`],
    ['longest chain of imports', `${chain.length}`],
    [
      'doors; most names of one',
      `${doors.size}; ${Math.max(0, ...[...doors.values()].map((names) => names.length))}`,
    ],
    ['long files with several topics', `${mixed.length}`],
  ];
  for (const [name, value] of rows) say(`${name.padEnd(32)}${value.padStart(12)}`);
  say();
  say(
    `${'room'.padEnd(20)}${'files'.padStart(6)}${'mean'.padStart(6)}${'code'.padStart(8)}${'names of its door'.padStart(20)}`,
  );
  const rooms = Map.groupBy(files, ({ path }) => roomOf(path));
  for (const [room, list] of [...rooms].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const lines = list.reduce((sum, file) => sum + file.lines, 0);
    const code = list.reduce((sum, file) => sum + file.codeLines, 0);
    const door = doors.get(`${room}/index.ts`)?.length ?? '–';
    say(
      `${room.padEnd(20)}${`${list.length}`.padStart(6)}${`${Math.round(lines / list.length)}`.padStart(6)}${code.toLocaleString('en').padStart(8)}${`${door}`.padStart(20)}`,
    );
  }
  for (const { path, groups } of mixed) say(`\n${path} holds several topics: ${groups.join(', ')}`);
}

function printLists({ single, dust, chain }: House): void {
  say('\nthe longest chain of imports');
  for (const path of chain) say(`  ${path}`);
  say('\nshort files with one importer beside them');
  for (const { path, lines } of dust) say(`  ${path} (${lines} lines)`);
  say('\nfiles with one importer');
  for (const { path, importers } of single) say(`  ${path} <- ${importers.join(', ')}`);
}

function printRoad({ samePage, nextPage, overview }: Road): void {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['from bytes to a table', samePage],
    ['… if the row opens a page', nextPage],
    ['from a table to the overview', overview],
  ];
  say('\nfiles on the road of a user row');
  for (const [name, files] of parts) {
    say(`${name.padEnd(32)}${`${files.length}`.padStart(12)}`);
    if (given.list) for (const path of files) say(`  ${path}`);
  }
}

const house = measureHouse();
printTable(house);
if (given.list) printLists(house);
if (given.road) {
  // Loaded only now: it starts a service and loads all of the program.
  const { measureRoad } = await import('./road.ts');
  printRoad(await measureRoad());
}
