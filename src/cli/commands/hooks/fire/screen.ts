import type { Fired, FiredHook } from '../../../../hooks/fire/fire.ts';
import type { Paint } from '../../../text/style.ts';
import { renderTable, right, shrinking, type TableFrame } from '../../../text/table.ts';

const COLUMNS = ['verdict', right('exit'), right('ms'), shrinking('command'), shrinking('output')];

/** What each hook did, and whether the agent continues. */
export function renderFired({ event, blocked, hooks }: Fired, frame: TableFrame): string[] {
  if (hooks.length === 0) return [`no hook is configured for ${event}`];
  const { green, red, yellow } = frame.style;
  const paints: Readonly<Record<FiredHook['verdict'], Paint>> = {
    proceeds: green,
    blocks: red,
    failed: yellow,
    'timed out': yellow,
  };
  const rows = hooks.map(({ verdict, exitCode, durationMs, command, stdout, stderr }) => [
    { content: verdict, paint: paints[verdict] },
    exitCode,
    durationMs,
    command,
    `${stderr}${stdout}`.trim(),
  ]);
  const conclusion = blocked ? 'blocked: the agent would not continue' : 'the agent continues';
  return [...renderTable(COLUMNS, rows, frame), '', conclusion];
}
