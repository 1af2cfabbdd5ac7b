import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { McpServerElement, ToolsRow } from '../../api/shapes/tools.ts';
import { canonicalJson } from '../../core/json.ts';
import type { EncodedRows } from '../../warehouse/port.ts';
import type { NormalizeContext } from './context.ts';
import { mapping } from './mapping.ts';
import { distinctRows, greatestOf, summedRows, sumOf } from './rows.ts';

const LEVELS = 'tool_autonomy_level_ratio';
const LEVEL_FIELDS = new Set(['auto_high', 'auto_medium', 'auto_low', 'manual']);
const SERVER_FIELDS = new Set(['server', 'invocations']);

const dayRow = mapping(tables.toolsDaily, {
  place: 'data[]',
  given: ['autonomy_auto_high', 'autonomy_auto_medium', 'autonomy_auto_low', 'autonomy_manual'],
  known: ['by_tool', 'mcp_by_server', 'skills_by_name', 'slash_commands_by_name', 'hooks_by_event', LEVELS],
});
const toolRow = mapping(tables.toolsDailyByTool, {
  place: 'data[].by_tool[]',
  given: ['date', 'is_artifact'],
});
const serverRow = encoderOf(tables.toolsDailyByMcpServer);
const skillRow = mapping(tables.toolsDailyBySkill, { place: 'data[].skills_by_name[]', given: ['date'] });
const commandRow = mapping(tables.toolsDailyBySlashCommand, {
  place: 'data[].slash_commands_by_name[]',
  given: ['date'],
});
const hookRow = mapping(tables.toolsDailyByHook, {
  place: 'data[].hooks_by_event[]',
  given: ['date', 'matcher', 'command'],
  known: ['matcher', 'command'],
});

/** Matches characters that occur in fragments of badly parsed calls but in no tool name, and the empty name. */
const ARTIFACT = /[\s<>{}[\]()"'`\\=,;|&$]|^$/;
const TOOL_CHARS_MAX = 128;

/** True for the few names that the service publishes although they are fragments of badly parsed calls, not tools. */
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

  function addDay(row: ToolsRow, context: NormalizeContext): void {
    const levels = row[LEVELS] ?? {};
    const source = { place: `data[].${LEVELS}`, exact: context.exact };
    const nested = { name: LEVELS, text: context.findings.extra(levels, LEVEL_FIELDS, source) };
    const columns = {
      autonomy_auto_high: levels.auto_high ?? null,
      autonomy_auto_medium: levels.auto_medium ?? null,
      autonomy_auto_low: levels.auto_low ?? null,
      autonomy_manual: levels.manual ?? null,
    };
    days.add(dayRow(row, columns, context, nested));
  }

  function addServers({ date, mcp_by_server }: ToolsRow, context: NormalizeContext): void {
    const { orgId: org_id, findings, exact } = context;
    const source = { place: 'data[].mcp_by_server[]', exact };
    for (const [server, elements] of groupByLowerCase(mcp_by_server ?? [])) {
      const extra = greatestOf(elements.map((element) => findings.extra(element, SERVER_FIELDS, source)));
      servers.add(serverRow({ org_id, date, server, ...mergeSpellings(elements), extra }));
    }
  }

  return {
    add(row: ToolsRow, context: NormalizeContext): void {
      const { date } = row;
      addDay(row, context);
      for (const element of row.by_tool ?? []) {
        const is_artifact = isArtifact(element.tool) ? 1 : 0;
        tools.add(toolRow(element, { date, is_artifact }, context));
      }
      addServers(row, context);
      for (const element of row.skills_by_name ?? []) skills.add(skillRow(element, { date }, context));
      for (const element of row.slash_commands_by_name ?? [])
        commands.add(commandRow(element, { date }, context));
      for (const element of row.hooks_by_event ?? []) {
        const { matcher, command } = element;
        hooks.add(hookRow(element, { date, matcher: matcher ?? '', command: command ?? '' }, context));
      }
    },
    finish: (): EncodedRows[] => [days, tools, servers, skills, commands, hooks].map((set) => set.finish()),
  };
}

/** Groups MCP servers by their name in lower case: the service sends one server under several spellings. */
function groupByLowerCase(elements: readonly McpServerElement[]): Map<string, McpServerElement[]> {
  const groups = new Map<string, McpServerElement[]>();
  for (const element of elements) {
    const server = element.server.toLowerCase();
    const group = groups.get(server);
    if (group === undefined) groups.set(server, [element]);
    else group.push(element);
  }
  return groups;
}

/** Sums the invocations of all spellings, and lists those of each spelling as a JSON object. */
function mergeSpellings(elements: readonly McpServerElement[]) {
  const values = new Map<string, (number | null)[]>();
  for (const { server, invocations = null } of elements) {
    const own = values.get(server);
    if (own === undefined) values.set(server, [invocations]);
    else own.push(invocations);
  }
  const sums = [...values].map(([server, own]) => [server, sumOf(own)] as const);
  return {
    invocations: sumOf(sums.map(([, sum]) => sum)),
    spellings: canonicalJson(Object.fromEntries(sums)),
  };
}
