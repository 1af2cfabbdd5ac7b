import { tables } from '../../../schema/tables.ts';
import type { McpServerElement, ToolsRow } from '../../api/shapes/tools.ts';
import { canonicalJson } from '../../core/json.ts';
import type { EncodedRows, Value } from '../../warehouse/port.ts';
import { type NormalizeContext, orNull } from './context.ts';
import { distinctRows, greatestOf, summedRows, sumOf } from './rows.ts';

const METRICS = [
  'tool_calls',
  'mcp_users_with_mcp',
  'skills_invocations',
  'slash_commands_invocations',
  'hooks_invocations',
  'web_users',
  'autonomy_ratio_avg',
  'autonomy_ratio_p50',
  'autonomy_ratio_p90',
  'tool_calls_per_session_avg',
  'user_turns_per_session_avg',
] as const;
const LEVELS = ['auto_high', 'auto_medium', 'auto_low', 'manual'] as const;
const LISTS = [
  'by_tool',
  'mcp_by_server',
  'skills_by_name',
  'slash_commands_by_name',
  'hooks_by_event',
] as const;

const ROW_FIELDS = new Set<string>(['date', ...METRICS, ...LISTS, 'tool_autonomy_level_ratio']);
const LEVEL_FIELDS = new Set<string>(LEVELS);
const TOOL_FIELDS = new Set(['tool', 'invocations']);
const SERVER_FIELDS = new Set(['server', 'invocations']);
const NAMED_FIELDS = new Set(['name', 'count']);
const HOOK_FIELDS = new Set(['event', 'matcher', 'command', 'count']);

/** Characters that no tool name has, but leftovers of a badly parsed call do. */
const ARTIFACT = /[\s<>{}[\]()"'`\\=,;|&$]|^$/;
const TOOL_CHARS_MAX = 128;

/** True for the few names that the service publishes although they are leftovers of parsing, not tools. */
export function isArtifact(tool: string): boolean {
  return tool.length > TOOL_CHARS_MAX || ARTIFACT.test(tool);
}

/** Collects the rows of a day of /tools: the day and its five breakdowns. */
export function normalizeTools() {
  const days = distinctRows(tables.toolsDaily);
  const tools = summedRows(tables.toolsDailyByTool);
  const servers = summedRows(tables.toolsDailyByMcpServer);
  const skills = summedRows(tables.toolsDailyBySkill);
  const commands = summedRows(tables.toolsDailyBySlashCommand);
  const hooks = summedRows(tables.toolsDailyByHook);

  function addDay(scope: readonly Value[], row: ToolsRow, { findings, exact }: NormalizeContext): void {
    const levels = row.tool_autonomy_level_ratio ?? {};
    const name = 'tool_autonomy_level_ratio';
    const text = findings.extra(levels, LEVEL_FIELDS, { place: `data[].${name}`, exact });
    const extra = findings.extra(row, ROW_FIELDS, { place: 'data[]', exact }, { name, text });
    const metrics = METRICS.map((name) => orNull(row[name]));
    days.add([...scope, ...metrics, ...LEVELS.map((level) => orNull(levels[level])), extra]);
  }

  function addElements(scope: readonly Value[], row: ToolsRow, { findings, exact }: NormalizeContext): void {
    const extra = (element: object, known: ReadonlySet<string>, list: (typeof LISTS)[number]) =>
      findings.extra(element, known, { place: `data[].${list}[]`, exact });
    for (const element of row.by_tool ?? []) {
      const { tool, invocations } = element;
      tools.add([
        ...scope,
        tool,
        orNull(invocations),
        Number(isArtifact(tool)),
        extra(element, TOOL_FIELDS, 'by_tool'),
      ]);
    }
    for (const [server, spellings] of byLowerCase(row.mcp_by_server ?? [])) {
      const extras = spellings.map((element) => extra(element, SERVER_FIELDS, 'mcp_by_server'));
      servers.add([...scope, server, ...mergeSpellings(spellings), greatestOf(extras)]);
    }
    for (const element of row.skills_by_name ?? []) {
      skills.add([
        ...scope,
        element.name,
        orNull(element.count),
        extra(element, NAMED_FIELDS, 'skills_by_name'),
      ]);
    }
    for (const element of row.slash_commands_by_name ?? []) {
      commands.add([
        ...scope,
        element.name,
        orNull(element.count),
        extra(element, NAMED_FIELDS, 'slash_commands_by_name'),
      ]);
    }
    for (const element of row.hooks_by_event ?? []) {
      const { event, matcher, command, count } = element;
      const key = [event, matcher ?? '', command ?? ''];
      hooks.add([...scope, ...key, orNull(count), extra(element, HOOK_FIELDS, 'hooks_by_event')]);
    }
  }

  return {
    add(row: ToolsRow, context: NormalizeContext): void {
      const scope = [context.orgId, row.date];
      addDay(scope, row, context);
      addElements(scope, row, context);
    },
    finish: (): EncodedRows[] => [days, tools, servers, skills, commands, hooks].map((set) => set.finish()),
  };
}

/** The service repeats MCP servers under several spellings of one name; they are one server. */
function byLowerCase(elements: readonly McpServerElement[]): Map<string, McpServerElement[]> {
  const groups = new Map<string, McpServerElement[]>();
  for (const element of elements) {
    const server = element.server.toLowerCase();
    const group = groups.get(server);
    if (group === undefined) groups.set(server, [element]);
    else group.push(element);
  }
  return groups;
}

/** Invocations of all spellings together, and of each as a JSON object. */
function mergeSpellings(elements: readonly McpServerElement[]): Value[] {
  const spellings = new Map<string, Value[]>();
  for (const { server, invocations } of elements) {
    const values = spellings.get(server);
    if (values === undefined) spellings.set(server, [orNull(invocations)]);
    else values.push(orNull(invocations));
  }
  const sums = [...spellings].map(([server, values]) => [server, sumOf(values)] as const);
  return [sumOf(sums.map(([, value]) => value)), canonicalJson(Object.fromEntries(sums))];
}
