import type { AnyTable } from '../define.ts';
import { tables } from '../tables.ts';
import { type Metric, sum } from './define.ts';
import type { Dimension } from './dimensions.ts';

const invocations = (
  name: string,
  title: string,
  doc: string,
  from: { table: AnyTable; by: Dimension; columns: readonly string[]; count: string },
): Metric => ({
  name,
  title,
  unit: 'invocations',
  doc,
  source: { table: from.table, stream: 'tools', columns: { [from.by]: from.columns }, hasUsers: false },
  measure: { kind: 'term', term: sum(from.count) },
});

export const toolMetrics: readonly Metric[] = [
  invocations('tool_invocations', 'Tool invocations', 'Invocations of tools.', {
    table: tables.toolsDailyByTool,
    by: 'tool',
    columns: ['tool'],
    count: 'invocations',
  }),
  invocations(
    'mcp_invocations',
    'MCP invocations',
    'Invocations of tools of MCP servers. Names of servers are in lower case.',
    { table: tables.toolsDailyByMcpServer, by: 'server', columns: ['server'], count: 'invocations' },
  ),
  invocations('skill_invocations', 'Skill invocations', 'Invocations of skills.', {
    table: tables.toolsDailyBySkill,
    by: 'skill',
    columns: ['name'],
    count: 'count',
  }),
  invocations('slash_command_invocations', 'Slash command invocations', 'Invocations of slash commands.', {
    table: tables.toolsDailyBySlashCommand,
    by: 'slash_command',
    columns: ['name'],
    count: 'count',
  }),
  invocations(
    'hook_invocations',
    'Hook invocations',
    'Invocations of hooks. A hook is named by its event, matcher and command, with " / " between them.',
    {
      table: tables.toolsDailyByHook,
      by: 'hook',
      columns: ['event', 'matcher', 'command'],
      count: 'count',
    },
  ),
];
