import { resolve } from 'node:path';
import { type ReportJob, type ReportResult, type ReportTarget, report } from '../../../../jobs/report.ts';
import { parseDay } from '../../../core/day.ts';
import { UsageError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { nearestName } from '../../../core/nearest.ts';
import { AUDIENCES, type Audience } from '../../../look/audience/audience.ts';
import type { Flags } from '../../arguments/flags.ts';
import type { Action, CommandContext } from '../../program/command.ts';
import { renderReport } from './screen.ts';

const MIN_GROUP = { min: 2, max: 1_000, default: 5 } as const;

export const act: Action = async (context) => {
  const { flags, settings, job, out, directory } = context;
  const result = await report(settings, requestOf(flags, directory), job);
  warn(context, result);
  out.show(result, (frame) => renderReport(result, frame));
  return EXIT.ok;
};

function requestOf(flags: Flags, directory: string): ReportJob {
  const target = targetOf(flags, directory);
  const audience = flags.parse('--audience', audienceOf) ?? 'managers';
  const minGroup = flags.number('--min-group', MIN_GROUP);
  if (minGroup !== undefined && audience === 'managers') {
    throw new UsageError('--min-group has no effect for managers, who see groups of any size', {
      hint: 'add --audience team or --audience public, or leave --min-group out',
    });
  }
  return {
    target,
    from: flags.parse('--from', parseDay),
    until: flags.parse('--until', parseDay),
    audience,
    minGroup: minGroup ?? MIN_GROUP.default,
    organization: flags.text('--organization'),
  };
}

function targetOf(flags: Flags, directory: string): ReportTarget {
  const [out, folder, team] = [flags.text('--out'), flags.text('--each-team'), flags.text('--team')];
  if (out !== undefined && folder !== undefined) {
    throw new UsageError('--out and --each-team exclude each other', { hint: 'choose one of them' });
  }
  if (folder !== undefined && team !== undefined) {
    throw new UsageError('--team and --each-team exclude each other', {
      hint: 'write one team with --team and --out, or all with --each-team',
    });
  }
  if (folder !== undefined)
    return { kind: 'folder', path: resolve(directory, expectPath('--each-team', folder)) };
  if (out === undefined) {
    throw new UsageError('nothing says where to write', {
      hint: 'add --out FILE.html, or --each-team FOLDER',
    });
  }
  if (!/\.html?$/i.test(out)) {
    throw new UsageError(`--out: ${out} does not end with .html`, {
      hint: 'name a file such as report.html',
    });
  }
  return { kind: 'file', path: resolve(directory, out), team };
}

function expectPath(flag: string, path: string): string {
  if (path.trim() !== '') return path;
  throw new UsageError(`${flag} is empty`, { hint: 'name a folder' });
}

function audienceOf(name: string): Audience {
  const found = AUDIENCES.find((audience) => audience === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, AUDIENCES);
  throw new UsageError(`"${name}" is not an audience`, {
    hint: nearest === undefined ? `choose from ${AUDIENCES.join(', ')}` : `did you mean ${nearest}?`,
  });
}

/** Files of teams that are no longer reported would stay published. */
function warn({ log }: CommandContext, { older = [] }: ReportResult): void {
  if (older.length === 0) return;
  const message = `the folder also holds reports that were not written now: ${older.join(', ')}; remove them if they must not be read any more`;
  log.write({ level: 'warn', event: 'report-older-files', message });
}
