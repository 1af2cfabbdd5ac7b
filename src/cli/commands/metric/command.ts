import { organizationFlag } from '../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk metric`: answers a question, or lists the metrics. */
export const metric: Command = {
  name: 'metric',
  summary: 'computes a metric by day, week, month, team and more; lists the metrics',
  description:
    'Computes a metric of the dictionary from the warehouse. Weeks and months at the ends of the period count only the days ' +
    'in it. The line below the table names the organization, the days, which of them may still change or are missing, and the ' +
    'run that changed them last; warnings go to standard error. A number that cannot be added up is refused with exit code 2, ' +
    'and a metric that can be is suggested. Teams are those of the day: someone who moved counts in both. Only reads the ' +
    'warehouse; sends nothing.',
  uses: warehouseSettings,
  operands: { '[name]': 'name of a metric; without it, the metrics are listed' },
  flags: {
    '--by <dimensions>':
      'comma-separated dimensions: at most one of date, week, month; and others that the metric has, such as user, team, model',
    '--from <day>': 'first day (default: 2026-01-14)',
    '--until <day>': 'last day (default: the newest loaded day of the stream of the metric)',
    '--team <name>': 'only this team; unassigned means users without a team',
    '--user <id>': 'only this user',
    ...organizationFlag,
    '--json': 'print one JSON document, with the days that are not settled or missing',
    '--csv': 'print CSV that is safe to open in a spreadsheet',
    '--sql': 'print the SQL instead of running it: for sqlite3 or psql, depending on the warehouse',
  },
  examples: {
    'daywalk metric': 'the metrics and their dimensions',
    'daywalk metric active_users --by week,team --from 2026-09-01': 'weekly active users of each team',
    'daywalk metric billable_tokens --by month,user --csv > credits.csv':
      'credits of each user, for a spreadsheet',
    'daywalk metric thinking_share --by week --sql | sqlite3 daywalk.db':
      'the query itself, run by another program',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
