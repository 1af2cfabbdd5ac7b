import { resolve } from 'node:path';
import { type LoadOf, type LoadRequest, listRows, loadFile } from '../../../jobs/csv-files.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Counts, FileScreen, FileTypes, LoadedFile, Wording } from '../../csv-files/loaded-file.ts';
import { writeCsv } from '../../csv-files/write-csv.ts';
import { SETTINGS } from '../../settings/settings-table.ts';
import { csvLines, type ScreenFrame } from '../output/output.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { counted, formatMoney, formatNumber, formatPrice } from '../screens/numbers.ts';
import { nameSpans, renderWarnings } from '../screens/provenance.ts';
import { renderFields, renderListing, renderTable } from '../screens/table.ts';

/** Loads a CSV file of a kind, and shows what has changed. */
export function loadAction<Types extends FileTypes>(kind: LoadedFile<Types>): Action {
  return async (context) => {
    const load = await loadFile(kind, context.settings, requestOf(context), context.job);
    context.out.show(load, (frame) => renderLoad(kind, load, frame));
    return EXIT.ok;
  };
}

function requestOf({ flags, operands: [name = ''], directory }: CommandContext): LoadRequest {
  return {
    file: { name, path: resolve(directory, name) },
    organization: flags.text('--organization'),
    isDryRun: flags.isOn('--dry-run'),
    allowsEmpty: flags.isOn('--allow-empty'),
  };
}

const CHANGES_SHOWN_MAX = 20;

/** What is drawn of a kind. */
interface Drawn<Item, Found extends Counts, Listed> {
  readonly noun: readonly [one: string, all: string];
  readonly screen: FileScreen<Item, Found, Listed>;
}

/** Draws how many rows a load has changed, which, and what is doubtful about them. */
function renderLoad<Item, Found extends Counts, Listed>(
  { noun, screen }: Drawn<Item, Found, Listed>,
  load: LoadOf & Found,
  frame: ScreenFrame,
): string[] {
  const words = wordingOf(frame);
  const { title, columns, itemsOf, cellsOf } = screen.changes;
  const listing = renderListing(
    {
      columns,
      items: itemsOf(load),
      row: (item) => cellsOf(item, words),
      shownMax: CHANGES_SHOWN_MAX,
    },
    { ...frame, indent: 2 },
  );
  return [
    frame.style.green(headlineOf(noun, screen, load)),
    ...renderCounts(screen, load, frame),
    ...(listing.length === 0 ? [] : ['', ...(title === undefined ? [] : [title]), ...listing]),
    ...renderWarnings(screen.warningsOf?.(load, words) ?? [], frame),
  ];
}

function headlineOf<Item, Found extends Counts, Listed>(
  [one, all]: Drawn<Item, Found, Listed>['noun'],
  { sizeOf }: FileScreen<Item, Found, Listed>,
  load: LoadOf & Found,
): string {
  const size = counted(sizeOf(load), one, all);
  const { added = 0, removed = 0, moved = 0, changed = 0 } = load;
  if (added + removed + moved + changed === 0) return `${all}: nothing to do; stored already: ${size}`;
  return load.dry_run ? `${all}: dry run, nothing is stored; ${size} in the file` : `${all}: ${size} stored`;
}

function renderCounts<Item, Found extends Counts, Listed>(
  { counts, factsOf }: FileScreen<Item, Found, Listed>,
  found: Found,
  frame: ScreenFrame,
): string[] {
  const named = counts.map(([kind, name]) => [name, found[kind] ?? 0] as const);
  if (factsOf === undefined) {
    return [`  ${named.map(([name, count]) => `${formatNumber(count)} ${name}`).join(', ')}`];
  }
  return ['', ...renderFields([...named, ...factsOf(found, wordingOf(frame))], frame)];
}

function wordingOf({ redact }: ScreenFrame): Wording {
  return {
    number: formatNumber,
    counted,
    money: formatMoney,
    price: formatPrice,
    spans: nameSpans,
    text: (text) => (text === null ? null : redact(text)),
    variable: (setting) => SETTINGS[setting].env,
  };
}

/** Lists the rows that files of a kind have loaded: as a table, or as a file that can be loaded again. */
export function listAction<Types extends FileTypes>(kind: LoadedFile<Types>): Action {
  const { format, noun, screen, written } = kind;
  return async ({ settings, job, flags, out }) => {
    const { orgId, rows } = await listRows(
      kind,
      settings,
      { organization: flags.text('--organization') },
      job,
    );
    out.show({ org_id: orgId, [noun[1]]: rows }, (frame) =>
      flags.isOn('--csv')
        ? csvLines(writeCsv(Object.keys(format.columns), rows.map(written)), frame)
        : renderRows(screen, rows, frame),
    );
    return EXIT.ok;
  };
}

function renderRows<Item, Found extends Counts, Listed>(
  { list, whenEmpty }: FileScreen<Item, Found, Listed>,
  rows: readonly Listed[],
  frame: ScreenFrame,
): string[] {
  if (rows.length === 0) return [whenEmpty];
  const words = wordingOf(frame);
  return renderTable(
    list.columns,
    rows.map((row) => list.cellsOf(row, words)),
    frame,
  );
}
