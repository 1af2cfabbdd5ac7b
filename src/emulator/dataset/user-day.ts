import {
  CLIENT_TYPES,
  EXTENSIONS,
  HOOKS,
  LANGUAGES,
  MCP_TOOLS,
  MODELS,
  SKILLS,
  SLASH_COMMANDS,
  TOOLS,
} from './catalog.ts';

/** The five credit metrics of one model, in this order in {@link UserDay.models}. */
export const CREDITS = { billable: 0, input: 1, output: 2, cacheRead: 3, cacheWrite: 4, count: 5 } as const;

/**
 * What one user did on one day. One object is filled again and again, so that a day of a large organization
 * allocates nothing per user: read what you need before the next fill.
 */
export interface UserDay {
  /** A bit per client type on which the user was active; never 0. */
  clients: number;
  sessions: number;
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  mcpCalls: number;
  skillCalls: number;
  slashCommands: number;
  hooks: number;
  filesCreated: number;
  filesEdited: number;
  commits: number;
  pullRequests: number;
  /** Average tool calls per user turn, in 1/10000. */
  autonomyRatio: number;
  /** Index of the delegation level. */
  delegation: number;
  /** Index of the model with the most credits. */
  primaryModel: number;
  /** Credits over all models. */
  billable: number;
  /** The broken name under which one of the tool calls was recorded; '' on almost every day. */
  artifact: string;
  /** Which of the two spellings of MCP servers the user has configured. */
  spelling: 0 | 1;
  /** Counts by place in the catalog. */
  readonly tools: Int32Array;
  readonly mcpTools: Int32Array;
  readonly skills: Int32Array;
  readonly commands: Int32Array;
  readonly hooksBy: Int32Array;
  readonly languages: Int32Array;
  readonly extensions: Int32Array;
  /** {@link CREDITS} numbers per model; a model was used when its input is above 0. */
  readonly models: Float64Array;
}

/** A day to be filled. */
export function blankUserDay(): UserDay {
  return {
    clients: 0,
    sessions: 0,
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    mcpCalls: 0,
    skillCalls: 0,
    slashCommands: 0,
    hooks: 0,
    filesCreated: 0,
    filesEdited: 0,
    commits: 0,
    pullRequests: 0,
    autonomyRatio: 0,
    delegation: 0,
    primaryModel: 0,
    billable: 0,
    artifact: '',
    spelling: 0,
    tools: new Int32Array(TOOLS.length),
    mcpTools: new Int32Array(MCP_TOOLS.length),
    skills: new Int32Array(SKILLS.length),
    commands: new Int32Array(SLASH_COMMANDS.length),
    hooksBy: new Int32Array(HOOKS.length),
    languages: new Int32Array(LANGUAGES.length),
    extensions: new Int32Array(EXTENSIONS.length),
    models: new Float64Array(MODELS.length * CREDITS.count),
  };
}

/** Makes a day one on which nothing was done, on the client type that comes last in the catalog. */
export function clearUserDay(day: UserDay): void {
  const { tools, mcpTools, skills, commands, hooksBy, languages, extensions, models, ...counts } =
    blankUserDay();
  Object.assign(day, counts, { clients: 1 << (CLIENT_TYPES.length - 1) });
  for (const list of [
    day.tools,
    day.mcpTools,
    day.skills,
    day.commands,
    day.hooksBy,
    day.languages,
    day.extensions,
    day.models,
  ])
    list.fill(0);
}
