import { EXTENSIONS, HOOKS, LANGUAGES, MCP_TOOLS, MODELS, SKILLS, SLASH_COMMANDS, TOOLS } from './catalog.ts';

/** The five credit metrics of one model, in their order in {@link UserDay.models}. */
export const CREDITS = { billable: 0, input: 1, output: 2, cacheRead: 3, cacheWrite: 4, count: 5 } as const;

/** Creates a day without activity. The caller fills it again and again. */
export function createUserDay() {
  return {
    /** A bit per client type on which the user was active; never 0 on an active day. */
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
    /** Average tool calls per user turn, in 1/10000. */
    autonomyRatio: 0,
    /** Index of the delegation level. */
    delegation: 0,
    /** Index of the model with the most credits. */
    primaryModel: 0,
    /** Credits of all models. */
    billable: 0,
    /** The broken name under which one tool call was recorded; '' on almost every day. */
    artifact: '',
    /** Which of the two spellings of MCP servers the user has configured: 0 or 1. */
    spelling: 0,
    // Counts by index in the catalog.
    tools: new Int32Array(TOOLS.length),
    mcpTools: new Int32Array(MCP_TOOLS.length),
    skills: new Int32Array(SKILLS.length),
    commands: new Int32Array(SLASH_COMMANDS.length),
    hooksBy: new Int32Array(HOOKS.length),
    languages: new Int32Array(LANGUAGES.length),
    extensions: new Int32Array(EXTENSIONS.length),
    /** {@link CREDITS} numbers per model; a model was used if its input is above 0. */
    models: new Float64Array(MODELS.length * CREDITS.count),
  };
}

/**
 * The numbers of one user on one day. One object is reused for all users, so that a day of a large organization allocates
 * nothing per user. Read its values before it is filled again.
 */
export type UserDay = ReturnType<typeof createUserDay>;
