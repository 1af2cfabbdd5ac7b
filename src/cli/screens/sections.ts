import type { RunProblem } from '../../pipeline/index.ts';
import { maskUrlPassword, SETTINGS, type SettingsReading } from '../../settings/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Style } from '../output/terminal.ts';
import { hintOf } from '../remedies.ts';
import { counted } from './numbers.ts';
import { renderMore } from './table.ts';
import { escapeForTerminal, shellQuote, wrapText } from './text.ts';

/** A titled part of a screen; nothing if it has no lines. */
export function section(
  title: string,
  lines: readonly string[],
  { style }: { readonly style: Style },
): string[] {
  return lines.length === 0 ? [] : ['', style.bold(title), ...lines];
}

/** How many problems are shown. `--json` lists more, and the ledger has the error of each unit. */
const PROBLEMS_SHOWN_MAX = 8;
/** A limit, because the message of an error can contain a whole web page. */
const MESSAGE_LINES_MAX = 4;
const HINT_LINES_MAX = 2;

/** Draws the first problems of a run, each with its hint. */
export function renderProblems(problems: readonly RunProblem[], frame: ScreenFrame): string[] {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).flatMap((problem) => linesOf(problem, frame));
  return [...shown, ...renderMore(problems.length - PROBLEMS_SHOWN_MAX, { ...frame, indent: 2 })];
}

function linesOf(problem: RunProblem, { width, style, redact }: ScreenFrame): string[] {
  const { message, units } = problem;
  const hint = hintOf(problem);
  const clean = (text: string) => escapeForTerminal(redact(text));
  const where = units === 0 ? '' : `${counted(units, 'unit')}: `;
  const lines = wrapText(clean(message), { width, lead: `  ${where}`, linesMax: MESSAGE_LINES_MAX });
  if (hint === undefined) return lines;
  const hints = wrapText(clean(hint), { width, lead: '    hint: ', linesMax: HINT_LINES_MAX });
  return [...lines, ...hints.map(style.dim)];
}

/** A command to run next, and what it does. */
export type Step = readonly [command: string, does?: string];

/** Draws commands to run next, under a title. Draws nothing without steps. */
export function renderSteps(
  title: string,
  steps: readonly Step[],
  { style }: { readonly style: Style },
): string[] {
  if (steps.length === 0) return [];
  const lines = steps.flatMap(([command, does]) => [
    `  ${command}`,
    ...(does === undefined ? [] : [style.dim(`      ${does}`)]),
  ]);
  return ['', style.bold(title), ...lines];
}

/** The location of a warehouse, for use in suggested commands. */
export interface WarehouseNames {
  /** The location, quoted for a shell. */
  readonly name: string;
  /** ` --warehouse …`, or empty if the environment or the default names the same warehouse. */
  readonly flag: string;
}

/** Names the warehouse of this command for further commands, without a password. */
export function warehouseNames({ reading }: { readonly reading: SettingsReading }): WarehouseNames {
  const { warehouse } = reading.settings;
  const entry = reading.entries.find(({ setting }) => setting.env === SETTINGS.warehouse.env);
  return namesOf(warehouse, entry?.source === 'flag');
}

/** Names the warehouse at a location. */
export function namesOf(location: string, withFlag: boolean): WarehouseNames {
  const shown = shellQuote(maskUrlPassword(location));
  return {
    name: shown,
    flag: withFlag ? ` --warehouse ${shown}` : '',
  };
}
