import type { EncodedRows } from '../../../schema/digest.ts';
import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import {
  type ActivityRow,
  CLIENTS,
  type McpServerElement,
  MODEL_KEYS,
  type ModelElement,
  type ProductivityRow,
  type TokensRow,
  type TokensUserElement,
  type ToolsRow,
  USER_KEYS,
} from '../../contract/index.ts';
import { canonicalJson } from '../../core/json.ts';
import { emailOf, mapping, type NormalizeContext, possibleRow } from './records.ts';
import { distinctRows, greatestOf, summedRows, sumOf } from './rows.ts';

const { tokensDaily, tokensDailyByModel, tokensDailyByUser, tokensDailyByUserModel } = tables;

const tokensRow = mapping(tokensDaily, { place: 'data[]', known: ['by_model', 'by_user'] });

// The ID of a model or user is in one of several fields. The fields that do not hold it count as unknown, so each field has
// its own mapping.
const modelRow = mappingPerName(MODEL_KEYS, (name) =>
  mapping(tokensDailyByModel, {
    place: 'data[].by_model[]',
    given: ['date', 'model_id'],
    known: [name],
  }),
);
const userRow = mappingPerName(USER_KEYS, (name) =>
  mapping(tokensDailyByUser, {
    place: 'data[].by_user[]',
    given: ['date', 'user_id', 'user_email'],
    known: [name, 'user_email', 'by_model'],
  }),
);
const userModelRow = mappingPerName(MODEL_KEYS, (name) =>
  mapping(tokensDailyByUserModel, {
    place: 'data[].by_user[].by_model[]',
    given: ['date', 'user_id', 'model_id'],
    known: [name],
  }),
);

/** Collects the rows of a day of /tokens: the day, its models, its users, and each user's models. */
export function normalizeTokens() {
  const days = distinctRows(tokensDaily);
  const models = summedRows(tokensDailyByModel);
  const users = summedRows(tokensDailyByUser);
  const userModels = summedRows(tokensDailyByUserModel);

  function addUser(date: string, user: TokensUserElement, context: NormalizeContext): void {
    const { name, id: user_id } = identityOf(USER_KEYS, user);
    users.add(userRow[name](user, { date, user_id, user_email: emailOf(user) }, context));
    userModels.addAll(
      (user.by_model ?? []).map((element) => {
        const model = identityOf(MODEL_KEYS, element);
        return userModelRow[model.name](element, { date, user_id, model_id: model.id }, context);
      }),
    );
  }

  function addModel(date: string, element: ModelElement, context: NormalizeContext): void {
    const { name, id: model_id } = identityOf(MODEL_KEYS, element);
    models.add(modelRow[name](element, { date, model_id }, context));
  }

  return {
    add(row: TokensRow, context: NormalizeContext): void {
      const { date, by_model, by_user } = row;
      days.add(tokensRow(row, {}, context));
      for (const element of by_model ?? []) addModel(date, element, context);
      for (const user of by_user ?? []) addUser(date, user, context);
    },
    finish: (): EncodedRows[] => [days.finish(), models.finish(), users.finish(), userModels.finish()],
  };
}

function mappingPerName<Name extends string, Made>(
  names: readonly Name[],
  make: (name: Name) => Made,
): Record<Name, Made> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Made>;
}

/** Finds the first field that identifies an element, and the ID in it. */
function identityOf<Name extends string>(
  names: readonly Name[],
  element: { readonly [Key in Name]?: unknown },
): { readonly name: Name; readonly id: string } {
  for (const name of names) {
    const id = element[name];
    if (typeof id === 'string' && id !== '') return { name, id };
  }
  throw new TypeError(`an element without ${names.join(', ')} passed its shape`);
}

const LEVELS = 'tool_autonomy_level_ratio';
const LEVEL_FIELDS = new Set(['auto_high', 'auto_medium', 'auto_low', 'manual']);
const SERVER_FIELDS = new Set(['server', 'invocations']);

const toolsRow = mapping(tables.toolsDaily, {
  place: 'data[]',
  given: ['autonomy_auto_high', 'autonomy_auto_medium', 'autonomy_auto_low', 'autonomy_manual'],
  known: ['by_tool', 'mcp_by_server', 'skills_by_name', 'slash_commands_by_name', 'hooks_by_event', LEVELS],
});
const toolRow = mapping(tables.toolsDailyByTool, {
  place: 'data[].by_tool[]',
  given: ['date', 'is_artifact'],
});
const serverRow = encoderOf(tables.toolsDailyByMcpServer);
const expectPossibleServer = possibleRow(tables.toolsDailyByMcpServer);
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
function isArtifact(tool: string): boolean {
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
    days.add(toolsRow(row, columns, context, nested));
  }

  function addServers({ date, mcp_by_server }: ToolsRow, context: NormalizeContext): void {
    const { orgId: org_id, findings, exact } = context;
    const source = { place: 'data[].mcp_by_server[]', exact };
    for (const [server, elements] of groupByLowerCase(mcp_by_server ?? [])) {
      const rowOf = (merged: readonly McpServerElement[], extra: string | null) =>
        serverRow({ org_id, date, server, ...mergeSpellings(merged), extra });
      const extra = greatestOf(elements.map((element) => findings.extra(element, SERVER_FIELDS, source)));
      servers.add(rowOf(elements, extra));
      // A sum does not show that one of its parts is impossible.
      for (const record of elements)
        expectPossibleServer(rowOf([record], null), { ...source, findings, record });
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

const activityRow = mapping(tables.activityDaily, {
  place: 'data[]',
  known: ['daily_active_users_by_client'],
});
const clientRow = encoderOf(tables.activityDailyByClient);
const expectPossibleClient = possibleRow(tables.activityDailyByClient);

/** Collects the rows of a day of /activity: the day and its client types. */
export function normalizeActivity() {
  const days = distinctRows(tables.activityDaily);
  const clients = distinctRows(tables.activityDailyByClient);
  return {
    add(row: ActivityRow, context: NormalizeContext): void {
      const { orgId: org_id, findings, exact } = context;
      const place = 'data[].daily_active_users_by_client';
      const dayRow = activityRow(row, {}, context);
      days.add(dayRow);
      for (const [client, users] of Object.entries(row.daily_active_users_by_client ?? {})) {
        findings.expectOneOf(CLIENTS, client, place);
        const own = clientRow({
          org_id,
          date: row.date,
          client,
          daily_active_users: users ?? null,
          extra: null,
        });
        clients.add(own);
        expectPossibleClient(own, { findings, record: { [client]: users }, place, exact, dayRow });
      }
    },
    finish: (): EncodedRows[] => [days.finish(), clients.finish()],
  };
}

const { productivityDaily, productivityDailyByExtension, productivityDailyByLanguage } = tables;
const productivityRow = mapping(productivityDaily, {
  place: 'data[]',
  known: ['by_extension', 'by_language'],
});
const extensionRow = mapping(productivityDailyByExtension, {
  place: 'data[].by_extension[]',
  given: ['date'],
});
const languageRow = mapping(productivityDailyByLanguage, { place: 'data[].by_language[]', given: ['date'] });

/** Collects the rows of a day of /productivity: the day, its file extensions and its languages. */
export function normalizeProductivity() {
  const days = distinctRows(productivityDaily);
  const extensions = summedRows(productivityDailyByExtension);
  const languages = summedRows(productivityDailyByLanguage);
  return {
    add(row: ProductivityRow, context: NormalizeContext): void {
      const { date, by_extension, by_language } = row;
      days.add(productivityRow(row, {}, context));
      for (const element of by_extension ?? []) extensions.add(extensionRow(element, { date }, context));
      for (const element of by_language ?? []) languages.add(languageRow(element, { date }, context));
    },
    finish: (): EncodedRows[] => [days.finish(), extensions.finish(), languages.finish()],
  };
}
