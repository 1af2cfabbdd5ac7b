import { split } from './names.ts';

/** A model of the emulated organization. Days count from the first day with data. */
export interface Model {
  readonly id: string;
  readonly tier: 'standard' | 'thinking';
  /** Credits per weighted token. */
  readonly rate: number;
  /** First and last day of use. */
  readonly since: number;
  readonly until: number;
  /** How often it is chosen in relation to the others. */
  readonly weight: number;
}

const ALWAYS = { since: 0, until: Number.MAX_SAFE_INTEGER };

/** At most 31, because one integer holds a set of models as bits. */
export const MODELS: readonly Model[] = [
  { id: 'atlas-4', tier: 'standard', rate: 1, ...ALWAYS, weight: 30 },
  { id: 'atlas-4-thinking', tier: 'thinking', rate: 1.4, ...ALWAYS, weight: 18 },
  { id: 'atlas-4-mini', tier: 'standard', rate: 0.25, ...ALWAYS, weight: 16 },
  { id: 'borealis-2', tier: 'standard', rate: 0.8, since: 0, until: 120, weight: 14 },
  { id: 'borealis-3', tier: 'standard', rate: 0.9, since: 75, until: ALWAYS.until, weight: 22 },
  { id: 'borealis-3-thinking', tier: 'thinking', rate: 1.2, since: 90, until: ALWAYS.until, weight: 10 },
  { id: 'cirrus-code', tier: 'standard', rate: 0.5, ...ALWAYS, weight: 12 },
  { id: 'cirrus-code-2', tier: 'thinking', rate: 0.6, since: 190, until: ALWAYS.until, weight: 15 },
  { id: 'custom:in-house-7b', tier: 'standard', rate: 0.1, since: 30, until: ALWAYS.until, weight: 3 },
];

/** The client types, in the order of the bits of a user's day (specification, section 2.4). */
export const CLIENT_TYPES = ['terminal-ui', 'web', 'non-interactive-cli'] as const;

/** Built-in tools, the most used first. */
export const TOOLS = split(`
  Read Execute Edit Grep Create TodoWrite LS Glob ApplyPatch WebSearch FetchUrl Task ExitSpecMode AskUser
  Skill GenerateImage
`);

/** MCP servers with the two spellings that users configured, and their tools. */
export const MCP_SERVERS = [
  { spellings: ['github', 'GitHub'], tools: ['search_code', 'create_pull_request', 'get_issue'] },
  { spellings: ['linear', 'Linear'], tools: ['list_issues', 'update_issue', 'get_document'] },
  { spellings: ['figma', 'Figma'], tools: ['get_file', 'get_comments', 'export_node'] },
  { spellings: ['postgres', 'Postgres'], tools: ['query', 'list_tables', 'explain'] },
  { spellings: ['sentry', 'Sentry'], tools: ['list_errors', 'get_event', 'resolve'] },
  { spellings: ['playwright', 'playwright'], tools: ['navigate', 'click', 'screenshot'] },
] as const;

/** Tools per MCP server. */
export const TOOLS_PER_SERVER = 3;

/** The tool names of the MCP tools, server by server. */
export const MCP_TOOLS: readonly string[] = MCP_SERVERS.flatMap((server) =>
  server.tools.map((tool) => `mcp__${server.spellings[0]}__${tool}`),
);

/** Tool names that a faulty parser produced; `@` stands for the name of the tool. */
export const TOOL_ARTIFACTS = [
  '@{"file_path":',
  '<invoke name="@">',
  '@\n',
  '@</parameter>\n</invoke>',
  '"@"',
  '@","parameters":{"command":"ls -la"}}',
  '\t@\r\n<parameter name="pattern">',
  "@'}]",
] as const;

export const SKILLS = split(`
  code-review release-notes write-tests migrate-config incident-report api-docs refactor dependency-upgrade
`);

export const SLASH_COMMANDS = split(`
  review compact model clear init mcp cost resume agents standup
`);

/** Hooks. Matcher and command may be empty. */
export const HOOKS = [
  { event: 'PostToolUse', matcher: 'Edit|Create', command: 'npm run lint --silent' },
  { event: 'PostToolUse', matcher: 'Edit', command: 'prettier --write "$FILE"' },
  { event: 'PostToolUse', matcher: 'Execute', command: './scripts/audit.sh' },
  { event: 'PreToolUse', matcher: 'Execute', command: 'python3 ~/.hooks/guard.py' },
  { event: 'Stop', matcher: '', command: 'notify-send "done"' },
  { event: 'Notification', matcher: '', command: 'terminal-notifier -title agent' },
  { event: 'SessionEnd', matcher: '', command: './scripts/session-summary.sh' },
  { event: 'SubagentStop', matcher: '', command: '' },
] as const;

/** Programming languages with two file extensions each. At most 31, like the models. */
export const LANGUAGES = [
  { name: 'TypeScript', extensions: ['.ts', '.tsx'] },
  { name: 'Python', extensions: ['.py', '.pyi'] },
  { name: 'JavaScript', extensions: ['.js', '.mjs'] },
  { name: 'Go', extensions: ['.go', '.go'] },
  { name: 'Markdown', extensions: ['.md', '.mdx'] },
  { name: 'Java', extensions: ['.java', '.java'] },
  { name: 'Rust', extensions: ['.rs', '.rs'] },
  { name: 'SQL', extensions: ['.sql', '.sql'] },
  { name: 'C++', extensions: ['.cpp', '.h'] },
  { name: 'YAML', extensions: ['.yaml', '.yml'] },
  { name: 'Shell', extensions: ['.sh', '.bash'] },
  { name: 'Kotlin', extensions: ['.kt', '.kts'] },
  { name: 'CSS', extensions: ['.css', '.scss'] },
  { name: 'Terraform', extensions: ['.tf', '.tfvars'] },
] as const;

/** Every extension once, in the order of the languages. */
export const EXTENSIONS: readonly string[] = [
  ...new Set(LANGUAGES.flatMap((language) => language.extensions)),
];

/** The indexes in {@link EXTENSIONS} of each language's two extensions. */
export const EXTENSIONS_OF_LANGUAGE: readonly (readonly [number, number])[] = LANGUAGES.map(
  ({ extensions: [first, second] }) => [EXTENSIONS.indexOf(first), EXTENSIONS.indexOf(second)],
);

/** How much the agent may do alone (specification, section 2.4). */
export const DELEGATION = ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'] as const;
