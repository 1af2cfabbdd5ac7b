import {
  CLIENT_TYPES,
  DELEGATION,
  EXTENSIONS,
  HOOKS,
  LANGUAGES,
  MCP_SERVERS,
  MCP_TOOLS,
  MODELS,
  SKILLS,
  SLASH_COMMANDS,
  TOOLS,
  TOOLS_PER_SERVER,
} from './catalog.ts';

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

/** Spellings per MCP server. */
const SPELLINGS = 2;

/** Creates the sums of a day without activity. */
export function createOrgDay() {
  const like = createUserDay();
  return {
    users: 0,
    sessions: 0,
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    skillCalls: 0,
    slashCommands: 0,
    hooks: 0,
    filesCreated: 0,
    filesEdited: 0,
    commits: 0,
    pullRequests: 0,
    mcpUsers: 0,
    // Counts by index in the catalog.
    usersByClient: new Float64Array(CLIENT_TYPES.length),
    callsByDelegation: new Float64Array(DELEGATION.length),
    tools: new Float64Array(like.tools.length),
    mcpTools: new Float64Array(like.mcpTools.length),
    /** {@link SPELLINGS} numbers per MCP server. */
    servers: new Float64Array(MCP_SERVERS.length * SPELLINGS),
    skills: new Float64Array(like.skills.length),
    commands: new Float64Array(like.commands.length),
    hooksBy: new Float64Array(like.hooksBy.length),
    languages: new Float64Array(like.languages.length),
    extensions: new Float64Array(like.extensions.length),
    models: new Float64Array(like.models.length),
    /** Broken tool names with their number of calls. */
    artifacts: new Map<string, number>(),
    /** Of the users' autonomy ratios, in 1/10000. */
    autonomy: { avg: 0, p50: 0, p90: 0 },
  };
}

/** The sums over all active users of one day. */
export type OrgDay = ReturnType<typeof createOrgDay>;

/** Sums up a day. `eachUser` visits every active user once; `users` is their number. */
export function sumOrgDay(users: number, eachUser: (visit: (facts: UserDay) => void) => void): OrgDay {
  const ratios = new Int32Array(users);
  const org = createOrgDay();
  eachUser((facts) => {
    ratios[org.users] = facts.autonomyRatio;
    addUser(org, facts);
  });
  summarize(ratios, org.autonomy);
  return org;
}

function addUser(org: OrgDay, facts: UserDay): void {
  org.users += 1;
  org.sessions += facts.sessions;
  org.userMessages += facts.userMessages;
  org.assistantMessages += facts.assistantMessages;
  org.toolCalls += facts.toolCalls;
  org.skillCalls += facts.skillCalls;
  org.slashCommands += facts.slashCommands;
  org.hooks += facts.hooks;
  org.filesCreated += facts.filesCreated;
  org.filesEdited += facts.filesEdited;
  org.commits += facts.commits;
  org.pullRequests += facts.pullRequests;
  if (facts.mcpCalls > 0) org.mcpUsers += 1;
  for (let bit = 0; bit < CLIENT_TYPES.length; bit++)
    bump(org.usersByClient, bit, (facts.clients >>> bit) & 1);
  bump(org.callsByDelegation, facts.delegation, facts.toolCalls);
  addAll(org.tools, facts.tools);
  addAll(org.skills, facts.skills);
  addAll(org.commands, facts.commands);
  addAll(org.hooksBy, facts.hooksBy);
  addAll(org.languages, facts.languages);
  addAll(org.extensions, facts.extensions);
  addAll(org.models, facts.models);
  addMcp(org, facts);
  if (facts.artifact !== '') org.artifacts.set(facts.artifact, (org.artifacts.get(facts.artifact) ?? 0) + 1);
}

function addMcp(org: OrgDay, facts: UserDay): void {
  if (facts.mcpCalls === 0) return;
  addAll(org.mcpTools, facts.mcpTools);
  for (let tool = 0; tool < facts.mcpTools.length; tool++) {
    const server = Math.floor(tool / TOOLS_PER_SERVER);
    bump(org.servers, server * SPELLINGS + facts.spelling, facts.mcpTools[tool] ?? 0);
  }
}

function summarize(ratios: Int32Array, into: OrgDay['autonomy']): void {
  let total = 0;
  for (const ratio of ratios) total += ratio;
  ratios.sort();
  into.avg = Math.round(total / ratios.length);
  into.p50 = ratios[Math.floor((ratios.length - 1) * 0.5)] ?? 0;
  into.p90 = ratios[Math.floor((ratios.length - 1) * 0.9)] ?? 0;
}

function addAll(into: Float64Array, from: Int32Array | Float64Array): void {
  for (let i = 0; i < from.length; i++) {
    const amount = from[i] ?? 0;
    if (amount !== 0) into[i] = (into[i] ?? 0) + amount;
  }
}

function bump(into: Float64Array, index: number, amount: number): void {
  into[index] = (into[index] ?? 0) + amount;
}
