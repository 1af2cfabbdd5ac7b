import { isKeptIn } from '../comparison/index.ts';
import type { UtcDay } from '../core/day.ts';
import type { Basis, Result, ShownNumber } from './numbers.ts';
import { asSentence } from './words.ts';

/** Text with numbers in it. */
export type Phrase = readonly (string | ShownNumber | StrongPart | SmallPart | LinkPart)[];

/** Words that explain those before them, in small letters on a line of their own. */
interface SmallPart {
  readonly kind: 'small';
  readonly parts: Phrase;
}

interface StrongPart {
  readonly kind: 'strong';
  readonly parts: Phrase;
}

/** A link inside Daywalk's pages. Reports, which have one page, show its text only. */
export interface LinkPart {
  readonly kind: 'link';
  readonly text: string;
  /** A path such as `/people/user_1`; the server adds the filters of the page. */
  readonly path: string;
  /** Where there is no such page, the text is left out too. @default false */
  readonly isAction?: boolean;
}

/** A cell of a table. */
export type Cell =
  | ShownNumber
  | LinkPart
  /** Text as it came: the markup escapes it, and cuts it where it is endless. */
  | { readonly kind: 'text'; readonly text: string; readonly isMuted?: boolean; readonly isCode?: boolean }
  /** A bar inside a table: `value` of `max`. */
  | { readonly kind: 'bar'; readonly value: number | null; readonly max: number }
  /** A change beside a line for none: up to the right, down to the left. The longest is `max`. */
  | { readonly kind: 'delta'; readonly value: number | null; readonly max: number }
  | Bullet
  /** A step of a sum on the way from `low` to `high`; a mark where both ends are equal. */
  | {
      readonly kind: 'step';
      readonly from: number;
      readonly to: number;
      readonly low: number;
      readonly high: number;
    }
  /** A bar for each week, the highest as high as the line; null for a week of which nothing is known. */
  | { readonly kind: 'weeks'; readonly values: readonly (number | null)[] }
  /** Text with numbers in it. */
  | { readonly kind: 'phrase'; readonly parts: Phrase }
  /** The state of a unit, with its mark and name. */
  | { readonly kind: 'state'; readonly state: MarkState };

/** Spent, forecast and range against a budget, which is always at two thirds. */
export interface Bullet {
  readonly kind: 'bullet';
  readonly spent: number | null;
  readonly forecast: number | null;
  /** The lowest and the highest forecast. */
  readonly range: readonly [low: number, high: number] | null;
  readonly budget: number | null;
}

export interface Column {
  readonly title: string;
  /** Numbers are right-aligned. */
  readonly align?: 'start' | 'end';
  /** The name that `?sort=` takes; a column without one cannot be sorted. */
  readonly sort?: string;
  /** The place of the row in the list, which does not name it: the next column does. */
  readonly isRank?: boolean;
  /** The column is left out below 600 px, because it repeats what another shows. */
  readonly isSpare?: boolean;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** One line per row, for long lists. @default false */
  readonly isDense?: boolean;
  /** Where the columns are sorted by links: the present order. */
  readonly sorting?: { readonly by: string; readonly descending: boolean };
}

/** A drawing. */
export interface Chart {
  /** SVG markup, made by src/look/charts only. */
  readonly svg: string;
  /** The vertical axis, as SVG markup, at the left of the drawing: it stays in view while a wide drawing scrolls. */
  readonly axis?: string | undefined;
  /** What the drawing shows, for people who do not see it. */
  readonly label: string;
}

/** A chart with its table, its queries and what it rests on. */
export interface Figure {
  readonly kind: 'figure';
  /** Anchor on the page, in kebab case. */
  readonly id: string;
  readonly title: string;
  /** Only for people who do not see the page, whose heading says the same. @default false */
  readonly hidesTitle?: boolean;
  /** Unit and period: "Million, last 88 days". */
  readonly subtitle: string;
  readonly chart?: Chart | undefined;
  /** The numbers of the chart. */
  readonly table: Table;
  /** The table opens on demand; a figure without a chart shows it. @default false */
  readonly isTableFolded?: boolean;
  readonly results: readonly Result[];
  /** What limits the figure, or how it is to be read, one sentence each. */
  readonly notes?: readonly Phrase[];
  /** What to do if there is nothing to show; it replaces chart and table. */
  readonly empty?: string | undefined;
  /** Marks that a chart uses and a legend names. */
  readonly legend?: readonly MarkState[];
  /** Further tables of the same rows, as files only. */
  readonly files?: readonly FigureFile[];
}

/** A table that nobody reads on a page: it is made when its CSV file is asked for. */
interface FigureFile {
  readonly id: string;
  /** What the link says. */
  readonly text: string;
  /** @throws {UsageError} if it is too long. */
  make(): Promise<Figure>;
}

/** One of the numbers below the heading. */
export interface Headline {
  readonly title: string;
  readonly number: ShownNumber;
  /** After the number: `EUR`, or nothing. */
  readonly unit?: string;
  readonly change: ShownNumber;
  /** The span that it is compared with: "October 1–19". */
  readonly against: string;
  /** A line of complete weeks; missing if there are fewer than two. */
  readonly line?: Chart | undefined;
  readonly results: readonly Result[];
}

/** A row of up to four numbers. */
export interface Headlines {
  readonly kind: 'headlines';
  readonly headlines: readonly Headline[];
}

/** Two figures side by side where there is room. */
export interface Pair {
  readonly kind: 'pair';
  readonly figures: readonly [Figure, Figure];
  /** The first one needs more room. @default false */
  readonly isUneven?: boolean;
}

export type Section = Headlines | Figure | Pair;

/** What is said before everything else. */
export interface Banner {
  readonly title: string;
  /** With commands between backticks. */
  readonly text: string;
}

/** What a page shows, without markup. */
export interface Page {
  /** The name in the navigation and in `<title>`. */
  readonly name: string;
  readonly heading: string;
  /** Why the page must not be read as the present: what is missing. */
  readonly banner?: Banner | undefined;
  /** The pages above this one, from the outside in. */
  readonly crumbs?: readonly LinkPart[];
  /** What the page has chosen, and what else it could. */
  readonly choices?: readonly { readonly label: string; readonly parts: Phrase }[];
  /** Beside the heading: until when the numbers reach. */
  readonly trust?: Phrase;
  /** What the page says in words. */
  readonly sentence: Phrase;
  readonly sections: readonly Section[];
  /** Every result that was asked for; the page shows the SQL of those whose numbers stand outside figures. */
  readonly asked?: readonly Result[];
  /** What the page as a whole rests on. */
  readonly basis?: Basis | undefined;
  /** One long list, which begins as high on the page as it can. @default false */
  readonly isList?: boolean;
  /** A search field: what is searched, what stands in it while it is empty, and the present text. */
  readonly search?: { readonly label: string; readonly example: string; readonly text: string };
  /** Links to the pages of a list that is longer than a page. */
  readonly pager?: { readonly page: number; readonly pages: number };
}

/** The marks of the calendar. Each differs from the others without colour. */
export const MARK_STATES = [
  'loaded',
  'empty',
  'seen',
  'open',
  'quarantined',
  'doubted',
  'failed',
  'awaiting',
  'pending',
  'expired',
] as const;
export type MarkState = (typeof MARK_STATES)[number];

/** The names of the marks as people read them. */
export const MARK_NAMES: Readonly<Record<MarkState, string>> = {
  loaded: 'loaded',
  empty: 'empty, settled',
  seen: 'seen once or twice',
  open: 'not settled yet',
  quarantined: 'quarantined records',
  doubted: 'doubted',
  failed: 'failed',
  awaiting: 'awaiting data',
  pending: 'never pulled',
  expired: 'people expired',
};

/** What a figure is called, wherever it stands. */
export interface FigureName {
  /** Anchor on the page, in kebab case. */
  readonly id: string;
  readonly title: string;
  /** How the subtitle begins: `Million`. */
  readonly unit: string;
}

/** A figure that has nothing to show: `empty` says why, and what to do. */
export function emptyFigure(
  { id, title, unit }: FigureName,
  empty: string,
  results: readonly Result[] = [],
): Figure {
  const table = { columns: [], rows: [] };
  return { kind: 'figure', id, title, subtitle: unit, table, isTableFolded: true, results, empty };
}

/** What is said in place of a number: that nothing is kept of single users, or of older days, if that is why; else `otherwise`. */
export function orNotKept(result: Pick<Result, 'basis' | 'warnings'> | undefined, otherwise: string): string {
  const [warning] = result?.warnings ?? [];
  return result !== undefined && !isKeptIn(result.basis) && warning !== undefined
    ? asSentence(warning)
    : otherwise;
}

/** Why an answer without values has none, as a sentence; `otherwise` is said if its days are stored. */
export function emptinessOf(
  { basis, warnings }: Pick<Result, 'basis' | 'warnings'>,
  otherwise?: string,
): string {
  const { missing, expected } = basis.days;
  const [warning] = warnings;
  if (missing.length === expected) return orNotKept({ basis, warnings }, 'No day of this period is stored.');
  return otherwise ?? (warning === undefined ? 'Nothing occurred in this period.' : asSentence(warning));
}

/** Longer addresses are refused by servers and proxies. */
const PATH_CHARACTERS_MAX = 2_000;

/** What a number is about: the page `/explore` begins with that number. */
export interface Slice {
  readonly team?: string | undefined;
  readonly model?: string | undefined;
  /** A user ID. */
  readonly person?: string | undefined;
  readonly from?: UtcDay | undefined;
  readonly until?: UtcDay | undefined;
  /** What its rows are. */
  readonly by?: string | undefined;
  readonly value?: string | undefined;
}

/** The path of the page that shows what a number consists of; undefined if no address can name it. */
export function slicePath(slice: Slice): string | undefined {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(slice)) {
    if (typeof value !== 'string') continue;
    if (!value.isWellFormed() || value.trim() !== value) return undefined;
    query.append(name, value);
  }
  const path = `/explore?${query}`;
  return path.length > PATH_CHARACTERS_MAX ? undefined : path;
}

/** A link to the page of one thing, for example `/people/user_1`; plain text if no address can name the thing. */
export function linkTo(folder: '/people' | '/teams', subject: string, text: string): Cell {
  const path = pathOf(folder, subject);
  return path === undefined ? { kind: 'text', text } : { kind: 'link', text, path };
}

function pathOf(folder: string, subject: string): string | undefined {
  // Browsers resolve dots, and encoding them does not change that.
  if (subject === '' || subject === '.' || subject === '..' || !subject.isWellFormed()) return undefined;
  const path = `${folder}/${encodeURIComponent(subject)}`;
  return path.length > PATH_CHARACTERS_MAX ? undefined : path;
}
