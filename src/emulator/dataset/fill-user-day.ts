import {
  CLIENT_TYPES,
  DELEGATION,
  EXTENSIONS_OF_LANGUAGE,
  HOOKS,
  LANGUAGES,
  MCP_SERVERS,
  MODELS,
  SKILLS,
  SLASH_COMMANDS,
  TOOL_ARTIFACTS,
  TOOLS,
  TOOLS_PER_SERVER,
} from './catalog.ts';
import { CREDITS, createUserDay, type UserDay } from './day-numbers.ts';
import type { Population } from './population.ts';
import { Draws, hash, unitOf } from './pseudo-random.ts';
import { type DayVariant, isAmong } from './variant.ts';

const draws = new Draws();
const ASPECT = { numbers: 20 } as const;

/** Fills `into` with the numbers of an active user. The result depends only on the arguments. */
export function fillUserDay(
  population: Population,
  user: number,
  day: number,
  variant: DayVariant,
  into: UserDay,
): void {
  const { seed } = population;
  draws.restart(hash(seed, user, ASPECT.numbers, day, saltOf(seed, user, variant)));
  drawMessages(draws, population.levelOf(user), into);
  drawCalls(draws, { seed, user }, into);
  drawFiles(draws, { seed, user, without: variant.withoutLanguages }, into);
  drawModels(draws, { seed, user, day, without: variant.withoutModels }, into);
  addCreatedSessions(population, user, day, variant, into);
}

/** Finds the salt of the last change that gives this user different numbers; 0 without one. */
function saltOf(seed: number, user: number, variant: DayVariant): number {
  let salt = 0;
  for (const change of variant.renumbered) {
    if (isAmong(change, seed, user)) salt = change.salt;
  }
  return salt;
}

function drawMessages(draws: Draws, level: number, into: UserDay): void {
  const load = level * (0.4 + 1.2 * draws.unit());
  into.sessions = 1 + draws.below(1 + 9 * load);
  into.userMessages = into.sessions + draws.below(into.sessions * (2 + 10 * load) + 1);
  into.assistantMessages = into.userMessages + draws.below(into.userMessages * 2 + 1);
  into.toolCalls = 1 + Math.floor(into.assistantMessages * (1 + 2.5 * draws.unit()));
}

/**
 * Adds the sessions that were created through the API. A user who did nothing else has only these sessions, as the last
 * client type, because created sessions have no messages yet.
 */
function addCreatedSessions(
  population: Population,
  user: number,
  day: number,
  variant: DayVariant,
  into: UserDay,
): void {
  const created = variant.createdSessions?.get(user) ?? 0;
  if (created === 0) return;
  if (!isOtherwiseActive(population, user, day, variant)) {
    Object.assign(into, createUserDay(), { clients: 1 << (CLIENT_TYPES.length - 1) });
  }
  into.sessions += created;
}

function isOtherwiseActive(
  population: Population,
  user: number,
  day: number,
  { hidden, withUsers, withoutUsers }: DayVariant,
): boolean {
  if (withoutUsers.includes(user)) return false;
  if (withUsers.includes(user)) return true;
  const isHidden = hidden !== null && isAmong(hidden, population.seed, user);
  return population.isActive(user, day) && !isHidden;
}

const FILES_ASPECT = { language: 40 } as const;
/** Maximum number of languages per user. */
const LANGUAGES_PER_USER = 4;

/** Draws files, commits, pull requests, languages and extensions. The tool calls must be set. */
function drawFiles(draws: Draws, habits: Habits & { without: number }, into: UserDay): void {
  const calls = into.toolCalls;
  into.filesCreated = draws.below(1 + calls / 9);
  into.filesEdited = draws.below(1 + calls / 3);
  into.commits = draws.below(1 + calls / 14);
  into.pullRequests = into.commits === 0 ? 0 : draws.below(1 + Math.min(4, into.commits));
  const files = into.filesCreated + into.filesEdited;
  spread(draws, files, into.languages, 1 + draws.below(LANGUAGES_PER_USER), (source) =>
    chooseLanguage(habits, source.below(LANGUAGES_PER_USER)),
  );
  spreadExtensions(draws, into);
}

/**
 * Chooses the user's n-th language. The first languages of the catalog are more common. The next language replaces a
 * vanished one.
 */
function chooseLanguage({ seed, user, without }: Habits & { without: number }, choice: number): number {
  const habit = hash(seed, user, FILES_ASPECT.language, choice);
  let language = Math.min(habit % LANGUAGES.length, (habit >>> 8) % LANGUAGES.length);
  for (let tries = 0; tries < LANGUAGES.length && ((without >>> language) & 1) === 1; tries++) {
    language = (language + 1) % LANGUAGES.length;
  }
  return language;
}

function spreadExtensions(draws: Draws, into: UserDay): void {
  into.extensions.fill(0);
  for (let language = 0; language < LANGUAGES.length; language++) {
    const count = into.languages[language] ?? 0;
    if (count === 0) continue;
    const [first, second] = EXTENSIONS_OF_LANGUAGE[language] ?? [0, 0];
    const minor = draws.below(1 + count / 3);
    into.extensions[first] = (into.extensions[first] ?? 0) + count - minor;
    into.extensions[second] = (into.extensions[second] ?? 0) + minor;
  }
}

const MODELS_ASPECT = { model: 50, season: 51 } as const;
/** Number of days after which a user may prefer other models. */
const FASHION_DAYS = 45;

/** Draws the credits by model. The messages and tool calls must be set. */
function drawModels(draws: Draws, habits: Habits & { day: number; without: number }, into: UserDay): void {
  into.models.fill(0);
  const uses = 1 + draws.below(3);
  let work = into.toolCalls * (1_500 + draws.below(4_000)) + into.userMessages * (500 + draws.below(1_500));
  for (let use = 0; use < uses; use++) {
    const share = use === uses - 1 ? work : Math.floor(work * (0.5 + 0.4 * draws.unit()));
    addCredits(draws, chooseModel(habits, use), share + 1, into);
    work -= share;
  }
  sumUp(into);
}

/** Chooses the model of the user's n-th use: a preference of the season among the models of the day. */
function chooseModel(
  { seed, user, day, without }: Habits & { day: number; without: number },
  use: number,
): number {
  // Users change their preferences on different days.
  const season = Math.floor((day + (hash(seed, user, MODELS_ASPECT.season) % FASHION_DAYS)) / FASHION_DAYS);
  let point = hash(seed, user, MODELS_ASPECT.model, season, use) % totalWeight(day, without);
  for (let model = 0; model < MODELS.length; model++) {
    point -= weightOf(model, day, without);
    if (point < 0) return model;
  }
  return 0;
}

function weightOf(model: number, day: number, without: number): number {
  const entry = MODELS[model];
  if (entry === undefined || ((without >>> model) & 1) === 1) return 0;
  return day >= entry.since && day <= entry.until ? entry.weight : 0;
}

function totalWeight(day: number, without: number): number {
  let total = 0;
  for (let model = 0; model < MODELS.length; model++) total += weightOf(model, day, without);
  return Math.max(1, total);
}

/** Raw input counts every input token. A token read from the cache costs a tenth, one written to it a quarter more. */
function addCredits(draws: Draws, model: number, fresh: number, into: UserDay): void {
  const cacheRead = Math.floor(fresh * (0.8 + 4 * draws.unit()));
  const cacheWrite = Math.floor(fresh * 0.3 * draws.unit());
  const output = Math.floor(fresh * (0.05 + 0.2 * draws.unit())) + 1;
  const weighted = fresh + cacheRead * 0.1 + cacheWrite * 1.25 + output * 4;
  const billable = Math.round(weighted * (MODELS[model]?.rate ?? 1)) + 1;
  const base = model * CREDITS.count;
  addTo(into.models, base + CREDITS.billable, billable);
  addTo(into.models, base + CREDITS.input, fresh + cacheRead + cacheWrite);
  addTo(into.models, base + CREDITS.output, output);
  addTo(into.models, base + CREDITS.cacheRead, cacheRead);
  addTo(into.models, base + CREDITS.cacheWrite, cacheWrite);
}

function sumUp(into: UserDay): void {
  into.billable = 0;
  let most = -1;
  for (let model = 0; model < MODELS.length; model++) {
    const billable = into.models[model * CREDITS.count + CREDITS.billable] ?? 0;
    into.billable += billable;
    if (billable > most) {
      most = billable;
      into.primaryModel = model;
    }
  }
}

function addTo(numbers: Float64Array, index: number, amount: number): void {
  numbers[index] = (numbers[index] ?? 0) + amount;
}

/** Share of invocations whose tool name has parsing artifacts (specification, section 8: about 0.006 %). */
const ARTIFACT_SHARE = 0.00006;
const CALLS_ASPECT = { client: 30, mcp: 31, spelling: 32, delegation: 33 } as const;

/** Draws tools, MCP calls, skills, commands, hooks, clients and autonomy. The messages and tool calls must be set. */
function drawCalls(draws: Draws, habits: Habits, into: UserDay): void {
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
  const habit = unitOf(hash(seed, user, CALLS_ASPECT.client));
  const favourite = habit < 0.68 ? 0 : habit < 0.9 ? 1 : 2;
  into.clients = 1 << favourite;
  if (draws.chance(0.18)) into.clients |= 1 << draws.below(CLIENT_TYPES.length);
}

function drawMcp(draws: Draws, { seed, user }: Habits, into: UserDay): void {
  into.mcpTools.fill(0);
  into.mcpCalls = 0;
  const habit = hash(seed, user, CALLS_ASPECT.mcp);
  into.spelling = unitOf(hash(seed, user, CALLS_ASPECT.spelling)) < 0.1 ? 1 : 0;
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
  const habit = hash(seed, user, CALLS_ASPECT.delegation);
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
interface Habits {
  readonly seed: number;
  readonly user: number;
}

/** Distributes `total` completely over at most `slots` indexes, which `place` picks. */
function spread(
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
function even(count: number): (draws: Draws) => number {
  return (draws) => draws.below(count);
}
