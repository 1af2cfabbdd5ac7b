import type { RunProblem } from '../../pipeline/events.ts';
import type { ScreenFrame } from '../output/output.ts';
import { hintOf } from '../remedies.ts';
import { escapeForTerminal } from '../text/escape.ts';
import { counted } from '../text/quantity.ts';
import { wrapText } from '../text/wrap.ts';
import { renderMore } from './listing.ts';

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
