import { checkSetup } from '../../../jobs/check.ts';
import type { Check, CheckState } from '../../../jobs/check-line.ts';
import { EXIT, type ExitCode, worstExit } from '../../core/exit-code.ts';
import { checkService } from '../../serve/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action } from '../program/command.ts';
import { hintOf } from '../remedies.ts';
import { counted } from '../screens/numbers.ts';
import { escapeForTerminal, padTo, widthOf, wrapText } from '../screens/text.ts';

export const checkAction: Action = async ({ reading, settings, flags, job, out }) => {
  const isOffline = flags.isOn('--offline');
  const { checks: found, warehouseId } = await checkSetup(reading, { isOffline }, job);
  const checks = [...found, ...(await checkService(settings, warehouseId, job))];
  const exitCode = worstExit(checks.flatMap((check) => check.exitCode ?? []));
  out.show({ checks: checks.map(documentOf), exit_code: exitCode }, (frame) =>
    renderChecks(checks, exitCode, frame),
  );
  return exitCode;
};

function documentOf({ name, organization, state, text, advice, exitCode }: Check) {
  const remedy = advice && hintOf(advice);
  return {
    name,
    ...(organization !== undefined && { organization }),
    state,
    text,
    ...(remedy !== undefined && { remedy }),
    ...(exitCode !== undefined && { exit_code: exitCode }),
  };
}

/** How each state is shown. */
const SIGNS: Readonly<
  Record<CheckState, { readonly sign: string; readonly colour: 'green' | 'yellow' | 'red' | 'dim' }>
> = {
  ok: { sign: 'ok', colour: 'green' },
  warning: { sign: 'warning', colour: 'yellow' },
  failed: { sign: 'failed', colour: 'red' },
  skipped: { sign: 'skipped', colour: 'dim' },
};
const SIGN_WIDTH = 7;
/** A limit, because the message of an error can contain a whole web page. */
const LINES_MAX = 4;

/** Draws a line for each check, with its remedy below it, and what follows from all of them. */
function renderChecks(checks: readonly Check[], exitCode: ExitCode, frame: ScreenFrame): string[] {
  const nameWidth = Math.max(...checks.map((check) => widthOf(nameOf(check))));
  return [
    ...checks.flatMap((check) => linesOf(check, nameWidth, frame)),
    '',
    conclusion(checks, exitCode, frame),
  ];
}

function nameOf({ name, organization }: Check): string {
  return escapeForTerminal(organization === undefined ? name : `${name} of ${organization}`);
}

function linesOf(check: Check, nameWidth: number, { style, width, redact }: ScreenFrame): string[] {
  const { sign, colour } = SIGNS[check.state];
  const lead = `${padTo(sign, SIGN_WIDTH)}  ${padTo(redact(nameOf(check)), nameWidth)}  `;
  const clean = (text: string) => escapeForTerminal(redact(text));
  const [first = '', ...others] = wrapText(clean(check.text), { width, lead, linesMax: LINES_MAX });
  const remedy = check.advice && hintOf(check.advice);
  const below = `${' '.repeat(widthOf(lead))}remedy: `;
  const remedies =
    remedy === undefined ? [] : wrapText(clean(remedy), { width, lead: below, linesMax: LINES_MAX });
  return [
    style[colour](first.slice(0, sign.length)) + first.slice(sign.length),
    ...others,
    ...remedies.map(style.dim),
  ];
}

function conclusion(checks: readonly Check[], exitCode: ExitCode, { style }: ScreenFrame): string {
  const of = (state: CheckState) => checks.filter((check) => check.state === state).length;
  const warnings = of('warning') === 0 ? '' : `, ${counted(of('warning'), 'warning')}`;
  const left = of('skipped') === 0 ? '' : `, ${of('skipped')} not looked at`;
  if (exitCode === EXIT.ok) return style.green(`check: a run can begin${warnings}${left}`);
  const failed = counted(of('failed'), 'failure');
  return style.red(`check: ${failed}${warnings}${left}; exit code ${exitCode}, as of a run`);
}
