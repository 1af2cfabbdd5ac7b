import { type AskedMetric, readMetric, readMetricSql } from '../../../../jobs/metric.ts';
import { parseDay } from '../../../core/day.ts';
import { UsageError } from '../../../core/errors.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import type { Dimension, MetricAnswer } from '../../../metrics/question.ts';
import { parseDimension } from '../../../metrics/question.ts';
import type { Flags } from '../../arguments/flags.ts';
import type { Action, CommandContext } from '../../program/command.ts';
import { describeHole } from '../../screens/provenance.ts';
import { metricCsv } from './csv.ts';
import { listMetrics, renderMetrics } from './list.ts';
import { renderAnswer } from './screen.ts';

const FORMATS = ['--json', '--csv', '--sql'] as const;
const QUESTION_FLAGS = ['--by', '--from', '--until', '--team', '--user', '--organization'] as const;

export const act: Action = async (context) => {
  const { flags, operands, settings, job, out } = context;
  refuseSeveralFormats(flags);
  const [name] = operands;
  if (name === undefined) return showList(context);
  const asked = askedMetric(name, flags);
  if (flags.isOn('--sql')) {
    out.print([`${await readMetricSql(settings, asked, job)};`]);
    return EXIT.ok;
  }
  const answer = await readMetric(settings, asked, job);
  if (flags.isOn('--csv')) out.print([metricCsv(asked.by, answer).trimEnd()]);
  else out.show(answer, (frame) => renderAnswer(asked.by, answer, frame));
  warn(context, answer);
  return EXIT.ok;
};

function showList({ flags, out }: CommandContext): ExitCode {
  const first = QUESTION_FLAGS.find((given) => flags.text(given) !== undefined);
  const format = flags.isOn('--csv') ? '--csv' : flags.isOn('--sql') ? '--sql' : undefined;
  const flag = first ?? format;
  if (flag !== undefined) {
    throw new UsageError(`${flag} needs the name of a metric`, { hint: 'daywalk metric lists the names' });
  }
  const metrics = listMetrics();
  out.show({ metrics }, (frame) => renderMetrics(metrics, frame));
  return EXIT.ok;
}

function refuseSeveralFormats(flags: Flags): void {
  const [one, other] = FORMATS.filter((flag) => flags.isOn(flag));
  if (one === undefined || other === undefined) return;
  throw new UsageError(`${one} and ${other} exclude each other`, { hint: 'choose one of them' });
}

function askedMetric(metric: string, flags: Flags): AskedMetric {
  return {
    metric,
    by: flags.parse('--by', parseDimensions) ?? [],
    from: flags.parse('--from', parseDay),
    until: flags.parse('--until', parseDay),
    team: flags.text('--team'),
    user: flags.text('--user'),
    organization: flags.text('--organization'),
  };
}

function parseDimensions(list: string): Dimension[] {
  return list.split(',').map((name) => parseDimension(name.trim()));
}

/** A JSON document holds the warnings, and a screen the hole; standard error has what the output does not show. */
function warn({ log, flags }: CommandContext, { warnings, days }: MetricAnswer): void {
  const hole = flags.isOn('--csv') ? describeHole(days) : null;
  for (const message of [...warnings, ...(hole === null ? [] : [hole])]) {
    log.write({ level: 'warn', event: 'metric-limited', message });
  }
}
