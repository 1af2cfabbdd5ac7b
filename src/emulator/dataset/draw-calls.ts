import {
  CLIENT_TYPES,
  DELEGATION,
  HOOKS,
  MCP_SERVERS,
  SKILLS,
  SLASH_COMMANDS,
  TOOL_ARTIFACTS,
  TOOLS,
  TOOLS_PER_SERVER,
} from './catalog.ts';
import type { UserDay } from './day-numbers.ts';
import { type Draws, hash, unitOf } from './pseudo-random.ts';

/** Share of invocations whose tool name has parsing artifacts (specification, section 8: about 0.006 %). */
const ARTIFACT_SHARE = 0.00006;
const ASPECT = { client: 30, mcp: 31, spelling: 32, delegation: 33 } as const;

/** Draws tools, MCP calls, skills, commands, hooks, clients and autonomy. The messages and tool calls must be set. */
export function drawCalls(draws: Draws, habits: Habits, into: UserDay): void {
  drawClients(draws, habits, into);
  drawMcp(draws, habits, into);
  spread(draws, into.toolCalls - into.mcpCalls, into.tools, 4 + draws.below(5), pickTool);
  drawArtifact(draws, into);
  const busy = into.userMessages;
  into.skillCalls = draws.chance(0.3) ? 1 + draws.below(1 + busy / 12) : 0;
  into.slashCommands = draws.chance(0.55) ? 1 + draws.below(1 + busy / 6) : 0;
  into.hooks = draws.chance(0.35) ? 1 + draws.below(1 + into.toolCalls / 4) : 0;
  spread(draws, into.skillCalls, into.skills, 2, even(SKILLS.length));
  spread(draws, into.slashCommands, into.commands, 3, even(SLASH_COMMANDS.length));
  spread(draws, into.hooks, into.hooksBy, 2, even(HOOKS.length));
  drawAutonomy(draws, habits, into);
}

function drawClients(draws: Draws, { seed, user }: Habits, into: UserDay): void {
  const habit = unitOf(hash(seed, user, ASPECT.client));
  const favourite = habit < 0.68 ? 0 : habit < 0.9 ? 1 : 2;
  into.clients = 1 << favourite;
  if (draws.chance(0.18)) into.clients |= 1 << draws.below(CLIENT_TYPES.length);
}

function drawMcp(draws: Draws, { seed, user }: Habits, into: UserDay): void {
  into.mcpTools.fill(0);
  into.mcpCalls = 0;
  const habit = hash(seed, user, ASPECT.mcp);
  into.spelling = unitOf(hash(seed, user, ASPECT.spelling)) < 0.1 ? 1 : 0;
  if (unitOf(habit) >= 0.45 || !draws.chance(0.7)) return;
  into.mcpCalls = draws.below(1 + into.toolCalls * 0.25);
  const first = habit % MCP_SERVERS.length;
  let rest = into.mcpCalls;
  for (let slot = 0; slot < 3 && rest > 0; slot++) {
    const server = slot === 2 ? (first + 1) % MCP_SERVERS.length : first;
    const count = slot === 2 ? rest : draws.below(rest + 1);
    const tool = server * TOOLS_PER_SERVER + draws.below(TOOLS_PER_SERVER);
    into.mcpTools[tool] = (into.mcpTools[tool] ?? 0) + count;
    rest -= count;
  }
}

function drawAutonomy(draws: Draws, { seed, user }: Habits, into: UserDay): void {
  // Queued messages join one turn, so the ratio is not tool calls per message.
  const turns = into.userMessages * (0.55 + 0.4 * draws.unit());
  into.autonomyRatio = Math.max(1, Math.round((into.toolCalls * 10_000) / turns));
  const habit = hash(seed, user, ASPECT.delegation);
  into.delegation = (draws.chance(0.8) ? habit : draws.bits()) % DELEGATION.length;
}

/** Picks a built-in tool; the first ones are far more common. */
function pickTool(draws: Draws): number {
  const unit = draws.unit();
  return Math.floor(unit * unit * TOOLS.length);
}

/** Replaces the name of one call by a broken one, so that the calls by tool still sum to all calls. */
function drawArtifact(draws: Draws, into: UserDay): void {
  const bits = draws.bits();
  into.artifact = '';
  if (unitOf(bits) >= into.toolCalls * ARTIFACT_SHARE) return;
  const tool = into.tools.findIndex((count) => count > 0);
  if (tool < 0) return;
  into.tools[tool] = (into.tools[tool] ?? 0) - 1;
  const pattern = TOOL_ARTIFACTS[hash(bits, 1) % TOOL_ARTIFACTS.length] ?? '@';
  into.artifact = pattern.replaceAll('@', TOOLS[tool] ?? '');
}

/** A user. Habits, such as the configured servers, depend on the user and not on the day. */
export interface Habits {
  readonly seed: number;
  readonly user: number;
}

/** Distributes `total` completely over at most `slots` indexes, which `place` picks. */
export function spread(
  draws: Draws,
  total: number,
  counts: Int32Array,
  slots: number,
  place: (draws: Draws) => number,
): void {
  counts.fill(0);
  let rest = total;
  for (let slot = 1; rest > 0; slot++) {
    const index = place(draws);
    const count = slot >= slots ? rest : Math.min(rest, Math.ceil(rest * (0.15 + 0.5 * draws.unit())));
    counts[index] = (counts[index] ?? 0) + count;
    rest -= count;
  }
}

/** Returns a function that picks any of `count` indexes with the same probability. */
export function even(count: number): (draws: Draws) => number {
  return (draws) => draws.below(count);
}
